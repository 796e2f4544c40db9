import CardRules
import Measuring

/// The same lanes as plain values in one array, looked at by one thread: what the decisions alone cost. The same events
/// reach them as reach the system's, so that both order the same pushes.
final class Floor {
    private var states: [LaneState]
    private var slate: Slate
    private var tuning = Tuning()
    private var snapshot: SlateSnapshot
    private var surroundings: Surroundings
    /// Pushes of the last sweep.
    private var sends: [(lane: Int32, number: PushNumber)] = []
    /// By game, the lanes that follow it, in the order in which they lie in memory.
    private let index: [[Int32]]
    private var visited: [UInt32]
    private var visit: UInt32 = 0

    init(phones: MadeUpPhones, count: Int, opening: [SlateLine]) {
        states = []
        states.reserveCapacity(count)
        for number in 0..<count { states.append(phones.state(number)) }
        var index = [[Int32]](repeating: [], count: phones.games.count)
        for number in 0..<count { for game in phones.followed(number) { index[game].append(Int32(number)) } }
        self.index = index
        visited = [UInt32](repeating: 0, count: count)
        slate = Slate(tuning: tuning)
        for line in opening { _ = slate.apply(line, at: line.at) }
        snapshot = slate.snapshot(at: MadeUpSlate.evening)
        surroundings = Surroundings(slate: snapshot, tuning: tuning)
        sends.reserveCapacity(count)
        sweep(.tick, at: MadeUpSlate.evening)
        accept(at: MadeUpSlate.evening)
    }

    /// Lanes that follow a game.
    func followers(_ game: Int) -> Int { index[game].count }

    /// Of all lanes, those that follow at least one of these.
    func share(following games: [Int]) -> Double {
        var isFollowing = [Bool](repeating: false, count: states.count)
        for game in games { for lane in index[game] { isFollowing[Int(lane)] = true } }
        return Double(isFollowing.count { $0 }) / Double(max(states.count, 1))
    }

    /// Time has passed: the lanes that are due look.
    func pass(to now: WallTime) {
        if let change = slate.nextChange, change <= now {
            publish(at: now)
            sweep(.tick, at: now)
            accept(at: now)
        }
        // A verdict may leave a lane due again.
        for _ in 0..<3 {
            for lane in states.indices where states[lane].nextLook.map({ $0 <= now }) == true {
                note(states[lane].apply(.look, at: now, in: surroundings), lane)
            }
            guard !sends.isEmpty else { break }
            accept(at: now)
        }
    }

    /// Merges the lines; what the lanes make of it is not part of it.
    func merge(_ lines: [SlateLine], at now: WallTime) {
        for line in lines { _ = slate.apply(line, at: now) }
        publish(at: now)
    }

    /// Every lane looks at the snapshot: the floor.
    /// - Returns: pushes ordered.
    @discardableResult
    func sweep(_ event: LaneEvent, at now: WallTime) -> Int {
        for lane in states.indices {
            let effects = states[lane].apply(event, at: now, in: surroundings)
            if !effects.isEmpty { note(effects, lane) }
        }
        return sends.count
    }

    /// Only those who follow a game that changed look, found by an index.
    /// - Returns: lanes visited.
    @discardableResult
    func sweepByIndex(_ games: [Int], at now: WallTime) -> Int {
        visit += 1
        var count = 0
        let isOne = games.count == 1
        for game in games {
            for lane in index[game] {
                if !isOne {
                    if visited[Int(lane)] == visit { continue }
                    visited[Int(lane)] = visit
                }
                count += 1
                let effects = states[Int(lane)].apply(.tick, at: now, in: surroundings)
                if !effects.isEmpty { note(effects, Int(lane)) }
            }
        }
        return count
    }

    /// Every push ordered is accepted, and what follows from that.
    func accept(at now: WallTime) {
        while !sends.isEmpty {
            let answered = sends
            sends.removeAll(keepingCapacity: true)
            for (lane, number) in answered {
                note(states[Int(lane)].apply(.verdict(number, .accepted), at: now, in: surroundings), Int(lane))
            }
        }
    }

    private func publish(at now: WallTime) {
        snapshot = slate.snapshot(at: now)
        surroundings = Surroundings(slate: snapshot, tuning: tuning)
    }

    private func note(_ effects: [LaneEffect], _ lane: Int) {
        for effect in effects {
            if case .send(let order) = effect { sends.append((Int32(lane), order.number)) }
        }
    }
}
