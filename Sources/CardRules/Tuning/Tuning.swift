/// Every number of the rules, with its default (rules.md section 12). Shared with the app.
///
/// Seconds, fractions allowed, unless the name says otherwise. Decodes from the JSON object under `tuning`:
/// a key left out keeps its default, an unknown key or an impossible value is an error that names it.
public struct Tuning: Hashable, Sendable {
    public var night = Night()
    public var starts = Starts()
    public var window = Window()
    public var updates = Updates()
    public var ends = Ends()
    public var life = Life()
    public var reissue = Reissue()
    public var takeover = Takeover()
    public var authority = Authority()
    public var gateway = Gateway()
    public var card = Card()
    public var slate = Slate()
    public var app = App()
    public var moments = MomentTuning()
    public var worth = WorthTuning()

    public init() {}

    public struct Night: Hashable, Sendable {
        /// Minutes after midnight, in the device's zone, at which one night ends and the next begins.
        public var rollsAtMinute = 360
    }

    public struct Starts: Hashable, Sendable {
        /// S6: starts a night under a key that this phone has not acknowledged tonight.
        public var unacknowledged = 1
        /// S6: ... and that it has.
        public var acknowledged = 4
        /// S6: all starts of any key and cause.
        public var hardCap = 10
        /// S10.
        public var gapSeconds = 600.0
        /// S13.
        public var cardsPerApp = 5
        /// S14: nights of unacknowledged starts in a row.
        public var unprovenNights = 2
        /// P10.
        public var expirationSeconds = 600.0
        /// L10, per node.
        public var claimedAtOnce = 5000
    }

    public struct Window: Hashable, Sendable {
        /// S11: how long before its start a game is eligible.
        public var beforeSeconds = 300.0
        /// S11: how long after its end.
        public var afterSeconds = 300.0
        /// S11: how long after its listed start a game that never went live stays.
        public var stalePreSeconds = 10_800.0
    }

    public struct Updates: Hashable, Sendable {
        /// U3, priority 5.
        public var gapSeconds = 15.0
        /// U3, priority 10.
        public var urgentGapSeconds = 1.0
        /// P6.
        public var urgentPerHour = 12
        /// P6, with frequent updates on.
        public var urgentPerHourFrequent = 200
        /// P4.
        public var staleSeconds = 600.0
        /// U6: after a lost answer or a single fault.
        public var dirtySeconds = 60.0
    }

    public struct Ends: Hashable, Sendable {
        /// E1: how long the ended card stays.
        public var lingerSeconds = 0.0
    }

    public struct Life: Hashable, Sendable {
        /// L7.
        public var limitSeconds = 28_800.0
        /// L8.
        public var endBeforeLimitSeconds = 60.0
        /// L9.
        public var acknowledgeSeconds = 600.0
    }

    public struct Reissue: Hashable, Sendable {
        /// R1.
        public var afterSeconds = 27_900.0
        /// R1.
        public var spreadSeconds = 120.0
        /// R3.
        public var retrySeconds = 60.0
        /// R7.
        public var perSecond = 200.0
    }

    public struct Takeover: Hashable, Sendable {
        /// T3.
        public var marginPoints = 8.0
        /// T4.
        public var settleSeconds = 20.0
        /// T5.
        public var benchSeconds = 90.0
        /// T1: how long a lift outlasts its moment.
        public var tailSeconds = 60.0
        /// T1: times the weight of each of the phone's teams that plays.
        public var favouriteTeamPoints = 15.0
        /// T8: changes of the front in any minute, T6 aside.
        public var changesPerMinute = 4
        public var boosts = Boosts()
    }

    /// T2, points.
    public struct Boosts: Hashable, Sendable {
        public var shootout = 30.0
        public var walkOffChance = 28.0
        public var overtime = 25.0
        public var closeFinish = 20.0
        public var comeback = 15.0
        public var upset = 12.0

        public subscript(kind: MomentKind) -> Double {
            switch kind {
            case .shootout: shootout
            case .walkOffChance: walkOffChance
            case .overtime: overtime
            case .closeFinish: closeFinish
            case .comeback: comeback
            case .upset: upset
            }
        }
    }

    public struct Authority: Hashable, Sendable {
        /// S8, A2.
        public var syncHoldSeconds = 30.0
        /// A3.
        public var selectionHours = 24.0
    }

    public struct Gateway: Hashable, Sendable {
        /// G3.
        public var probeSeconds = 30.0
        /// G3.
        public var faultsInARow = 5
        /// G4.
        public var tokenMinSeconds = 1200.0
        /// G4.
        public var tokenMaxSeconds = 3000.0
        /// G5: after a 5xx.
        public var serverErrorSeconds = 900.0
        /// G5: after `TooManyRequests`, doubling.
        public var slowSeconds = 60.0
        /// G5: where the doubling stops.
        public var slowMaxSeconds = 900.0
    }

    public struct Card: Hashable, Sendable {
        /// T12, where the device's personalisation says nothing.
        public var maxGames = 4
    }

    public struct Slate: Hashable, Sendable {
        /// How long a score is held for a game not yet announced (api.md).
        public var holdUnannouncedSeconds = 600.0
    }

    public struct App: Hashable, Sendable {
        /// C4: from the launch to the second reading of the push-to-start token.
        public var rereadSeconds = 3.0
    }
}
