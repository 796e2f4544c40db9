import CardRules
import Foundation
import Operations
import Simulation
import Testing

@testable import lanekeeper

/// SIGKILL at random points of registrations, of a start wave, a reissue round and the ends of many phones.
///
/// `LANEKEEPER_CRASH_SEED` and `LANEKEEPER_CRASH_ROUNDS` choose other kills and more of them; a failure prints its seed.
@Suite(.enabled(if: BuiltProgram.url != nil)) struct RandomPointTests {
    private static let game = "g1"
    private static let phones = 2000

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    static let seeds: [UInt64] = {
        let first = number("LANEKEEPER_CRASH_SEED") ?? 11
        return (0..<(number("LANEKEEPER_CRASH_ROUNDS") ?? 1)).map { first + $0 }
    }()

    @Test(arguments: StoreKind.allCases, seeds)
    func
        `L1, L10: killed at random points of a wave, nothing is started twice, no end is forgotten, no registration is lost`(
            kind: StoreKind, seed: UInt64
        ) async throws
    {
        let world = try await CrashWorld(
            { try await kind.make(in: $0) }, seed: seed
        ) { Wave.profiles(Self.phones, of: Self.game, at: $0) }
        try await world.live {
            var wave = Wave(world, game: Self.game, seed: seed)
            try await world.begin()
            try await wave.register([.kill])
            try await wave.start([.kill, .kill])
            try await wave.reissue([.kill])
            try await wave.show([])
            try await wave.end([.kill])
        }
    }
}
