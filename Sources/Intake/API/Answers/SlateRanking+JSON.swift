internal import CardRules
internal import Lanes

extension SlateRanking {
    /// The members of `GET /v1/slate`: best first.
    func write(_ json: inout JSONBuilder) {
        json.member("version", Int64(clamping: version))
        json.member("asOf", asOf)
        json.array("games", games) { json, game in json.object { game.write(&$0) } }
    }
}

extension SlateRanking.Game {
    fileprivate func write(_ json: inout JSONBuilder) {
        json.member("id", ranked.id.text)
        json.member("sport", ranked.sport.name)
        json.member("league", ranked.league)
        json.member("home", ranked.home)
        json.member("away", ranked.away)
        json.member("startsAt", ranked.startsAt)
        json.member("phase", ranked.phase.rawValue)
        json.member("period", ranked.period)
        json.member("clock", ranked.clock)
        json.member("homeScore", merged.homeScore)
        json.member("awayScore", merged.awayScore)
        json.member("homeRank", merged.homeRank)
        json.member("awayRank", merged.awayRank)
        if let spread = merged.spread { json.member("spread", spread) } else { json.member("spread", nil as String?) }
        json.member("favourite", merged.favourite?.rawValue)
        json.member("detail", ranked.detail)
        json.member("others", .object(merged.others))
        json.member("inWindow", ranked.isInWindow)
        json.member("worth", ranked.worth)
        json.object("worthOf") {
            $0.member("phase", worth.phase)
            $0.member("tension", worth.tension)
            $0.member("leadChanges", worth.leadChanges)
            $0.member("stakes", worth.stakes)
        }
        json.member("lift", ranked.lift)
        json.array("moments", ranked.moments) { $0.value($1.rawValue) }
    }
}
