extension TuningKey {
    /// The constants of T9.
    static let ofMoments: [TuningKey] = [
        count("moments.basketball.regulationPeriods", \.moments.basketball.regulationPeriods, in: 1...20),
        seconds("moments.basketball.periodSeconds", \.moments.basketball.periodSeconds),
        seconds("moments.basketball.overtimeSeconds", \.moments.basketball.overtimeSeconds),
        seconds("moments.basketball.closeSeconds", \.moments.basketball.closeSeconds),
        count("moments.basketball.closeMargin", \.moments.basketball.closeMargin, in: 0...1000),
        count("moments.basketball.comebackMargin", \.moments.basketball.comebackMargin, in: 1...1000),
        count("moments.hockey.regulationPeriods", \.moments.hockey.regulationPeriods, in: 1...20),
        seconds("moments.hockey.periodSeconds", \.moments.hockey.periodSeconds),
        seconds("moments.hockey.overtimeSeconds", \.moments.hockey.overtimeSeconds),
        count("moments.hockey.shootoutPeriod", \.moments.hockey.shootoutPeriod, in: 1...100),
        seconds("moments.hockey.closeSeconds", \.moments.hockey.closeSeconds),
        count("moments.hockey.closeMargin", \.moments.hockey.closeMargin, in: 0...1000),
        count("moments.hockey.comebackMargin", \.moments.hockey.comebackMargin, in: 1...1000),
        count("moments.football.regulationPeriods", \.moments.football.regulationPeriods, in: 1...20),
        count("moments.soccer.regulationPeriods", \.moments.soccer.regulationPeriods, in: 1...20),
        count("moments.baseball.regulationPeriods", \.moments.baseball.regulationPeriods, in: 1...20),
        number("moments.upset.fromShare", \.moments.upset.fromShare, in: 0...1),
        points("moments.upset.spreadPoints", \.moments.upset.spreadPoints),
    ]

    /// The constants of T10.
    static let ofWorth: [TuningKey] = [
        points("worth.prePoints", \.worth.prePoints),
        points("worth.finalPoints", \.worth.finalPoints),
        points("worth.unmodelledLivePoints", \.worth.unmodelledLivePoints),
        points("worth.unmodelledBreakPoints", \.worth.unmodelledBreakPoints),
        points("worth.decidedPoints", \.worth.decidedPoints),
        points("worth.levelStartPoints", \.worth.levelStartPoints),
        points("worth.levelEndPoints", \.worth.levelEndPoints),
        points("worth.levelOvertimePoints", \.worth.levelOvertimePoints),
        points("worth.shootoutPoints", \.worth.shootoutPoints),
        points("worth.breakPoints", \.worth.breakPoints),
        points("worth.leadChangePoints", \.worth.leadChangePoints),
        count("worth.leadChangesCounted", \.worth.leadChangesCounted, in: 0...1000),
        points("worth.rankPoints", \.worth.rankPoints),
        number("worth.rankDepth", \.worth.rankDepth, in: 1...10_000),
        points("worth.spreadPoints", \.worth.spreadPoints),
        number("worth.spreadRange", \.worth.spreadRange, in: 0...1000),
        number("worth.basketball.pointsPerRootSecond", \.worth.basketball.pointsPerRootSecond, in: 0.0001...100),
        seconds("worth.basketball.cushionSeconds", \.worth.basketball.cushionSeconds),
        number("worth.hockey.pointsPerRootSecond", \.worth.hockey.pointsPerRootSecond, in: 0.0001...100),
        seconds("worth.hockey.cushionSeconds", \.worth.hockey.cushionSeconds),
    ]
}
