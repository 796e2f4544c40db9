/// The next instants of one card's life, worked out once when its age, the quiet hours or the zone change: nothing of it
/// is calculated per tick.
public struct LifePlan: Hashable, Sendable {
    public let key: CardKey
    /// The age that it was made for (L4).
    let age: WallTime
    /// R1, R5: when the card is reissued; `nil`: both that moment and the limit lie in quiet hours.
    public let reissueAt: WallTime?
    /// L8: when it is ended, if no successor has come.
    public let endAt: WallTime
    /// L7.
    public let limitAt: WallTime
    /// The rule that withheld the reissue last.
    var withheld: Rule?

    /// - Parameters:
    ///   - hours: the device's quiet hours, by whose reading at the due moment R5 is judged.
    init(key: CardKey, device: DeviceID, age: WallTime, hours: QuietHours?, zone: Zone, tuning: Tuning) {
        self.key = key
        self.age = age
        limitAt = age.advanced(bySeconds: tuning.life.limitSeconds)
        let last = limitAt.advanced(bySeconds: -tuning.life.endBeforeLimitSeconds)
        let due = age.advanced(
            bySeconds: tuning.reissue.afterSeconds - spread(of: key, device, upTo: tuning.reissue.spreadSeconds))
        guard let span = hours?.span(at: due, in: zone), span.contains(due) else {
            reissueAt = due
            endAt = last
            return
        }
        if span.to < limitAt {
            // Due inside, limit outside: L8 waits for it too, and comes only when the reissue does not.
            reissueAt = span.to
            endAt = max(last, span.to)
        } else {
            reissueAt = nil
            endAt = last
        }
    }
}

/// R1: seconds before the last moment at which a card is due: a hash of device and key, so that one tick's cards do not
/// come due together, nor at any later reissue.
func spread(of key: CardKey, _ device: DeviceID, upTo seconds: Double) -> Double {
    var hash = ContentHash()
    hash.add(device.text)
    hash.add(key.text)
    let mixed = (hash.value ^ hash.value >> 32) & 0xffff_ffff
    return seconds * Double(mixed) / Double(UInt32.max)
}
