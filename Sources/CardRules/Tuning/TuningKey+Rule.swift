extension TuningKey {
    /// What the value is for: the number of its rule (rules.md section 12).
    public var rule: String {
        if name.hasPrefix("moments.") { return "T9" }
        if name.hasPrefix("worth.") { return "T10" }
        if name.hasPrefix("takeover.boosts.") { return "T2" }
        return TuningKey.rules[name] ?? ""
    }

    private static let rules: [String: String] = [
        "night.rollsAt": "section 0", "starts.unacknowledged": "S6", "starts.acknowledged": "S6",
        "starts.hardCap": "S6",
        "starts.gapSeconds": "S10", "starts.cardsPerApp": "S13", "starts.unprovenNights": "S14",
        "starts.expirationSeconds": "P10", "starts.claimedAtOnce": "L10", "window.beforeSeconds": "S11",
        "window.afterSeconds": "S11", "window.stalePreSeconds": "S11", "updates.gapSeconds": "U3",
        "updates.urgentGapSeconds": "U3", "updates.urgentPerHour": "P6", "updates.urgentPerHourFrequent": "P6",
        "updates.staleSeconds": "P4", "updates.dirtySeconds": "U6", "ends.lingerSeconds": "E1",
        "reissue.afterSeconds": "R1", "reissue.spreadSeconds": "R1", "reissue.retrySeconds": "R3",
        "reissue.perSecond": "R7", "life.limitSeconds": "L7", "life.endBeforeLimitSeconds": "L8",
        "life.acknowledgeSeconds": "L9", "takeover.marginPoints": "T3", "takeover.settleSeconds": "T4",
        "takeover.benchSeconds": "T5", "takeover.tailSeconds": "T1", "takeover.favouriteTeamPoints": "T1",
        "takeover.changesPerMinute": "T8", "authority.syncHoldSeconds": "S8", "authority.selectionHours": "A3",
        "gateway.probeSeconds": "G3", "gateway.faultsInARow": "G3", "gateway.tokenMinSeconds": "G4",
        "gateway.tokenMaxSeconds": "G4", "gateway.serverErrorSeconds": "G5", "gateway.slowSeconds": "G5",
        "gateway.slowMaxSeconds": "G5", "card.maxGames": "T12", "slate.holdUnannouncedSeconds": "api.md",
        "app.rereadSeconds": "C4",
    ]
}
