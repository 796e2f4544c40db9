import CardRules
import Lanes
import Testing

@testable import LaneStore

@Suite struct TimelineCodecTests {
    @Test func `L1: a timeline of version 2 still loads, and this version's comes back as it was`() throws {
        let device = DeviceID(unchecked: "d1")
        let old = try #require(try TimelineCodec.decode(timelineOfVersion2(), of: device).first)
        #expect(old.entry.changesWhen == "it is morning" && old.entry.probe == nil)
        let dropped = TimelineEntry(
            at: tenPM, key: .probe, kind: .probe, rule: .l10, detail: "4 of 5 variants dropped",
            probe: ProbeStep(variant: nil, event: .dropped))
        let rows = [
            sampleRow("d1", "x"), TimelineRow(device: device, entry: dropped, apnsID: nil, push: nil), old,
        ]
        #expect(try TimelineCodec.decode(TimelineCodec.encode(rows), of: device) == rows)
    }
}
