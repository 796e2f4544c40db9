import CardRules

/// One tenure of a partition on this node.
struct Tenure {
    let epoch: Int64
    /// What came before its lanes did; `nil`: they are there.
    var waiting: [DeviceCall]?
    /// Another node is to have it: its lanes take no turn but for the verdicts of what is under way.
    var whenAtRest: (@Sendable () -> Void)?
    /// Whoever waits for that has been told.
    var isAtRest = false
}

/// What a shard is told of a partition that comes or goes.
enum PartitionOrder: Sendable {
    /// Its lanes are about to be loaded; what comes for them waits.
    case arrive(Int, epoch: Int64)
    /// - Parameter done: called once it is done, `nil` where that tenure is over.
    case install(Int, epoch: Int64, LoadedPartition, done: @Sendable (Installed?) -> Void)
    /// - Parameter done: called once nothing of it is under way, or it is dropped.
    case rest(Int, epoch: Int64, done: @Sendable () -> Void)
    case drop(Int, epoch: Int64)

    /// Nobody works any more.
    func callOff() {
        switch self {
        case .arrive, .drop: break
        case .install(_, _, _, let done): done(nil)
        case .rest(_, _, let done): done()
        }
    }
}

/// A partition as the store has it.
struct LoadedPartition: Sendable {
    let rows: [StoredLane]
    /// Those that do not parse.
    var damaged: [DamagedLane] = []
    /// What its earlier owner gave out at most (P5).
    let timestampFloor: Int64
    let sessions: RestoredSessions
}

/// Partitions come and go while the shard runs: between two turns.
extension Shard {
    /// Its lanes are there.
    func runs(_ place: Int) -> Bool { tenures[place].map { $0.waiting == nil } ?? false }

    /// Partitions that go one after the other go in one look at all lanes.
    func carryOut(_ orders: [PartitionOrder]) async {
        var going: Set<Int> = []
        for order in orders {
            if case .drop(let place, let epoch) = order {
                if tenures[place]?.epoch == epoch { going.insert(place) }
            } else {
                drop(going)
                going = []
                await carryOut(order)
            }
        }
        drop(going)
    }

    private func carryOut(_ order: PartitionOrder) async {
        switch order {
        case .arrive(let place, let epoch): tenures[place] = Tenure(epoch: epoch, waiting: [])
        case .install(let place, let epoch, let loaded, let done):
            guard let tenure = tenures[place], tenure.epoch == epoch, let waiting = tenure.waiting else {
                return done(nil)
            }
            let installed = install(loaded, isWhileRunning: true)
            // P5: what this shard gives out is stored for this partition too before it leaves.
            if askedMark > loaded.timestampFloor { outbox.gathering.marks[place] = askedMark }
            tenures[place]?.waiting = nil
            for call in waiting { await take(call) }
            done(installed)
        case .rest(let place, let epoch, let done):
            guard tenures[place]?.epoch == epoch else { return done() }
            tenures[place]?.whenAtRest = done
            resting.insert(place)
        case .drop: break  // see above
        }
    }

    /// Whether a call is for a lane that may take a turn now; else it is seen to.
    func admits(_ call: DeviceCall) -> Bool {
        let place = partition(of: call.device)
        guard let tenure = tenures[place], tenure.whenAtRest == nil else {
            // What was posted is in the store, for the next owner.
            if call.post == nil { router.deliver(call) }
            return false
        }
        if let post = call.post, post.epoch != tenure.epoch { return false }
        guard let waiting = tenure.waiting else { return true }
        if call.hear != nil, waiting.count >= environment.callsHeld {
            call.reply(.overloaded)
        } else {
            tenures[place]?.waiting?.append(call)
        }
        return false
    }

    /// A lane of a partition at rest looks at nothing more.
    func isResting(_ index: Int) -> Bool {
        guard !resting.isEmpty, let device = devices[index] else { return false }
        return resting.contains(partition(of: device))
    }

    /// Tells whoever waits for partitions to come to rest.
    func tellOfRest() {
        let waiting = resting.filter { tenures[$0]?.isAtRest == false }
        guard !waiting.isEmpty else { return }
        var busy = Set(inFlight.keys.map { partition(of: $0.device) })
        for push in outgoing { busy.insert(partition(of: push.ticket.device)) }
        // One that waits for a person waits as well at the next owner.
        for (device, fallen) in fallen where !fallen.stage.turnsCallsAway { busy.insert(partition(of: device)) }
        for index in outbox.gathering.lanes.union(outbox.committing?.lanes ?? []) {
            if let device = devices[index] { busy.insert(partition(of: device)) }
        }
        for place in waiting.subtracting(busy) {
            guard !outbox.gathering.concerns(place), outbox.committing?.concerns(place) != true else { continue }
            // It takes no turn more until the order to drop it comes.
            tenures[place]?.isAtRest = true
            tenures[place]?.whenAtRest?()
        }
    }

    /// The partitions are not ours any more: their lanes are gone, and with them whatever waited to be written or sent.
    func drop(_ partitions: Set<Int>) {
        let gone = partitions.filter { tenures[$0] != nil }
        guard !gone.isEmpty else { return }
        var indices: Set<Int> = []
        for (index, device) in devices.enumerated() {
            if let device, gone.contains(partition(of: device)) { indices.insert(index) }
        }
        outbox.hasDropped = outbox.hasDropped || outbox.committing != nil
        let replies =
            outbox.gathering.drop(gone, places: indices) + (outbox.committing?.drop(gone, places: indices) ?? [])
        for reply in replies { reply.tell(.unavailable) }
        outgoing.removeAll { gone.contains(partition(of: $0.ticket.device)) }
        for (ticket, push) in inFlight where gone.contains(partition(of: ticket.device)) {
            inFlight[ticket] = nil
            if push.isClaim { environment.claims.giveBack() }
            push.tick?.answered()
        }
        for index in indices {
            if let device = devices[index] {
                if let fallen = fallen.removeValue(forKey: device) {
                    if case .writing = fallen.stage { fallen.whenWritten(false) }
                    for call in fallen.calls where call.post == nil { router.deliver(call) }
                    if let lane = fallen.lane { goneGeneration = max(goneGeneration, lane.generation.value) }
                }
                places[device] = nil
            }
            if let lane = lanes[index] { goneGeneration = max(goneGeneration, lane.generation.value) }
            deadlines.clear(index)
            lanes[index] = nil
            devices[index] = nil
            freePlaces.append(index)
        }
        for place in gone {
            let tenure = tenures.removeValue(forKey: place)
            resting.remove(place)
            for call in tenure?.waiting ?? [] where call.post == nil { router.deliver(call) }
            if tenure?.isAtRest == false { tenure?.whenAtRest?() }
        }
    }

    /// The store has refused a batch: some of its partitions have a newer owner. The others' part of it goes on.
    /// - Returns: what is left of the batch; `nil` where nothing says whose it is.
    func yieldFenced(_ batch: Outbox.Gathering) -> Outbox.Gathering? {
        guard let cluster = environment.cluster else { return nil }
        let held = cluster.held
        let lost = tenures.filter { held[$0.key] != $0.value.epoch }
        guard !lost.isEmpty else { return nil }
        outbox.committing = batch
        for (place, tenure) in lost { router.fenced(place, epoch: tenure.epoch) }
        drop(Set(lost.keys))
        defer { (outbox.committing, outbox.hasDropped) = (nil, false) }
        return outbox.committing
    }
}
