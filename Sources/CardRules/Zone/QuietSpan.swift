/// One stretch of quiet hours as instants.
public struct QuietSpan: Hashable, Sendable {
    public let from: WallTime
    /// The first instant that is not quiet any more.
    public let to: WallTime

    public init(from: WallTime, to: WallTime) {
        self.from = from
        self.to = to
    }

    public func contains(_ instant: WallTime) -> Bool { from <= instant && instant < to }
}

extension QuietHours {
    /// The stretch that `now` is in, else the next one: it always ends after `now`.
    ///
    /// Of an hour that comes twice, quiet hours begin with the first and end with the last; a gap shortens them (S5), and
    /// one that lies in a gap altogether is left out.
    public func span(at now: WallTime, in zone: Zone) -> QuietSpan {
        let today = localDay(zone.localSeconds(at: now))
        for day in (today - 2)...(today + 4) {
            let span = span(ofDay: day, in: zone)
            guard span.to > now, span.from < span.to else { continue }
            // Hours of almost a whole day: where the clock is set back one stretch may reach into the next.
            let next = self.span(ofDay: day + 1, in: zone)
            return next.from <= span.to && next.from < next.to ? QuietSpan(from: span.from, to: next.to) : span
        }
        return QuietSpan(from: .distantFuture, to: .distantFuture)  // only at the end of all time
    }

    public func contains(_ instant: WallTime, in zone: Zone) -> Bool { span(at: instant, in: zone).contains(instant) }

    /// The stretch that begins on this day of the wall clock; empty when a gap swallows it.
    private func span(ofDay day: Int64, in zone: Zone) -> QuietSpan {
        let endDay = toMinute > fromMinute ? day : day + 1
        return QuietSpan(
            from: zone.instant(localSeconds: day * 86_400 + Int64(fromMinute) * 60, .first),
            to: zone.instant(localSeconds: endDay * 86_400 + Int64(toMinute) * 60, .last))
    }
}
