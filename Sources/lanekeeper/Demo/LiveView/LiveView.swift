import CardRules
import Foundation
import Lanes
import Simulation
import Synchronization
import TLS

/// The live view of a demo: one thread that reads keys and draws, ten times a second of real time at any speed.
final class LiveView: Sendable {
    let pause: NightPause
    /// What keys ask of the system, in order.
    let orders: AsyncStream<LiveOrder>

    private let terminal: Terminal
    private let thread: LoopThread
    private let life: Life

    /// Shared with the thread.
    private final class Life: Sendable {
        let isOver = Atomic<Bool>(false)
        let isLeft = Atomic<Bool>(false)
        let message = Mutex<(text: String, until: ContinuousClock.Instant)?>(nil)
    }

    private static let frameMilliseconds: Int32 = 100
    private static let messageLasts = Duration.seconds(5)

    /// Takes the terminal over; `stopped` gives it back.
    /// - Throws: `SocketError` where the system has no thread left; the terminal is as it was then.
    init(_ night: LiveNight, pause: NightPause, environment: [String: String]) throws {
        let (orders, given) = AsyncStream.makeStream(of: LiveOrder.self, bufferingPolicy: .bufferingOldest(100))
        let (terminal, life) = (Terminal(), Life())
        let palette = Palette(hasColour: (environment["NO_COLOR"] ?? "").isEmpty)
        let glyphs: Glyphs = Terminal.isUTF8(in: environment) ? .unicode : .ascii
        (self.pause, self.orders, self.terminal, self.life) = (pause, orders, terminal, life)
        do {
            thread = try LoopThread(name: "live-view") {
                LiveView.run(LiveDesk(night), terminal, life, pause, given, palette, glyphs)
            }
        } catch {
            terminal.restore()
            throw error
        }
    }

    /// Someone at the keys wants to leave, or the terminal is gone.
    var isLeft: Bool { life.isLeft.load(ordering: .relaxed) }

    /// What became of an order, for a few seconds.
    func say(_ text: String) { life.message.withLock { $0 = (text, .now + LiveView.messageLasts) } }

    /// The terminal is as it was before when this returns.
    func stopped() async {
        life.isOver.store(true, ordering: .relaxed)
        await thread.finished()
        terminal.restore()
    }

    private static func run(
        _ desk: consuming LiveDesk, _ terminal: Terminal, _ life: Life, _ pause: NightPause,
        _ given: AsyncStream<LiveOrder>.Continuation, _ palette: Palette, _ glyphs: Glyphs
    ) {
        var desk = desk
        var keys = KeyDecoder()
        var painter = ScreenPainter(palette: palette)
        func leave() {
            life.isLeft.store(true, ordering: .relaxed)
            pause.end()
        }
        while !life.isOver.load(ordering: .relaxed) {
            let size = terminal.size ?? ScreenSize(columns: 80, rows: 24)
            let message = life.message.withLock { $0.flatMap { $0.until > .now ? $0.text : nil } }
            let state = desk.state(columns: size.columns, isPaused: pause.isPaused, message: message, at: .now)
            let drawn = painter.paint(LiveLayout(size: size, glyphs: glyphs).lines(state), on: size)
            if !terminal.write(drawn) { return leave() }
            guard let bytes = terminal.typed(within: LiveView.frameMilliseconds) else { return leave() }
            for key in bytes.isEmpty ? keys.pause() : keys.take(bytes) {
                switch desk.press(key) {
                case .leave: leave()
                case .pause: pause.toggle()
                case .some(let order): given.yield(order)
                case nil: break
                }
            }
            if StopSignals.wereSent { pause.end() }
        }
        given.finish()
    }
}

extension LiveView {
    /// Carries out what keys asked of the system, one after the other, until the task is cancelled.
    func serve(_ engine: DemoEngine, in world: DemoWorld, speed: Double) async {
        for await order in orders {
            switch order {
            case .leave, .pause: break  // the view's own
            case .kill(let phone, let device):
                world.fleet.withJudge { $0.laneRestarts(ofPhone: phone, at: world.clock.now) }
                do {
                    let isThere = try await engine.supervisor.kill(device)
                    say(
                        isThere
                            ? "the lane of \(device) was killed and goes on from the store"
                            : "\(device) has no lane yet")
                } catch {
                    say("the lane of \(device) was killed and cannot be read: \(error)")
                }
            case .moment(let device, let game):
                // Long enough to be seen: a few real seconds.
                let seconds = max(60, 3 * speed)
                let call = ClientRequest.moment(.shootout, of: game, seconds: seconds, for: [device])
                switch await engine.api.answer(to: call, as: .demo) {
                case .success(let answer) where answer.status == 202:
                    say("made up for \(device): shootout of \(game), \(Int(seconds)) s")
                case .success(let answer): say("no moment for \(device): the API answered \(answer.status)")
                case .failure(let error): say("no moment for \(device): \(error)")
                }
            }
        }
    }
}
