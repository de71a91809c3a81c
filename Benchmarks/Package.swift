// swift-tools-version: 6.2
// Measures the library; a package of its own, so that users of the library do not build it.

import PackageDescription

let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "HLSKit", path: "..")],
    targets: [
        .executableTarget(
            name: "PlaylistBenchmarks",
            dependencies: [.product(name: "HLSKitPlaylist", package: "HLSKit")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
        .executableTarget(
            name: "SimulationBenchmarks",
            dependencies: [
                .product(name: "HLSKitCore", package: "HLSKit"), .product(name: "HLSKitSimulation", package: "HLSKit"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
        .executableTarget(
            name: "SeekBenchmarks", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
        .executableTarget(
            name: "PlayersBenchmarks", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]),
        // Counts allocations by replacing malloc(3).
        .target(name: "CAllocations"),
        .executableTarget(
            name: "RuleBenchmarks",
            dependencies: [
                "CAllocations", .product(name: "HLSKitCore", package: "HLSKit"),
                .product(name: "HLSKitSimulation", package: "HLSKit"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
        .executableTarget(
            name: "DemuxBenchmarks",
            dependencies: [
                .product(name: "HLSKitMedia", package: "HLSKit"), .product(name: "HLSKitPlaylist", package: "HLSKit"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
        // Reports differences from ffprobe, not speed.
        .executableTarget(
            name: "PacketComparison",
            dependencies: [
                .product(name: "HLSKitMedia", package: "HLSKit"), .product(name: "HLSKitPlaylist", package: "HLSKit"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
