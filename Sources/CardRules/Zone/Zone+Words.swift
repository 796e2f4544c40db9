extension Zone {
    /// The wall clock as people read it, `07:00`.
    public func hourAndMinute(at instant: WallTime) -> String {
        let local = localSeconds(at: instant)
        let minutes = (local - localDay(local) * 86_400) / 60
        return padded(minutes / 60) + ":" + padded(minutes % 60)
    }

    private func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
