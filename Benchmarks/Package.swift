// swift-tools-version: 6.3
import PackageDescription

/// The same rules as the package that is measured.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let rooms: Target.Dependency = .product(name: "Rooms", package: "lanekeeper")

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "lanekeeper", path: "..")],
    targets: [
        // Stands in for the C library's allocator, to count what is asked of it.
        .target(name: "CAllocations"),
        // What every benchmark needs: time, memory, allocations, figures, tables, plots.
        .target(name: "Measuring", dependencies: ["CAllocations"], swiftSettings: strict),
        .executableTarget(name: "benchmarks", dependencies: ["Measuring", rooms], swiftSettings: strict),
        .executableTarget(name: "push-throughput", dependencies: ["Measuring", rooms], swiftSettings: strict),
    ]
)
