import Testing

@testable import CardRules

/// Whole lanes over whole evenings: what their cards show, watched from outside.
@Suite(.enabled(if: SlateFiles.arePresent, Comment(rawValue: SlateFiles.comment)))
struct FrontsOfAnEveningTests {
    @Test(arguments: SlateFiles.names)
    func `T8, T3, T11, A2: whatever phone follows whatever evening, its front is steady`(name: String) throws {
        let seeds = UInt64(1)..<17
        var seen = FollowingPhone.Seen()
        for phone in try FollowingPhone.follow(name, seeds: seeds) {
            for breach in phone.breaches.prefix(3) { Issue.record("\(name), \(breach)") }
            seen.add(phone.seen)
        }
        #expect(seen.cards >= 8, "\(seen)")
        #expect(seen.takeovers >= 3 && seen.forced >= 1, "\(seen)")
    }

    @Test func `C5: rows and patches of one evening give every phone the same fronts, starts, updates and ends`() throws
    {
        let rows = try FollowingPhone.follow("nhl-2013-01-29.rows.ndjson", seeds: 100..<124)
        let patches = try FollowingPhone.follow("nhl-2013-01-29.patch.ndjson", seeds: 100..<124)
        var events: [PushEvent: Int] = [:]
        for (one, other) in zip(rows, patches) {
            let device = one.lane.kept.device.text
            let first = zip(one.deeds, other.deeds).first { $0 != $1 }
            #expect(first == nil, "\(device): \(String(describing: first))")
            #expect(one.deeds.count == other.deeds.count, "\(device)")
            for deed in one.deeds {
                if case .push(let event, _) = deed.what { events[event, default: 0] += 1 }
            }
        }
        #expect(events[.start, default: 0] >= 20, "\(events)")
        #expect(events[.update, default: 0] >= 1000, "\(events)")
        #expect(events[.end, default: 0] >= 15, "\(events)")
    }
}
