// swift-tools-version: 6.2
// HLSKit: an HLS streaming client for Linux. The map of the modules is in CONTRIBUTING.md.

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "HLSKit",
    products: [
        .library(name: "HLSKitCore", targets: ["HLSKitCore"]),
        .library(name: "HLSKitLocalization", targets: ["HLSKitLocalization"]),
        .library(name: "HLSKitObservability", targets: ["HLSKitObservability"]),
        .library(name: "HLSKitSimulation", targets: ["HLSKitSimulation"]),
        .library(name: "HLSKitPlaylist", targets: ["HLSKitPlaylist"]),
        .library(name: "HLSKitMedia", targets: ["HLSKitMedia"]),
        .library(name: "HLSKitCaptions", targets: ["HLSKitCaptions"]),
        .library(name: "HLSKitTime", targets: ["HLSKitTime"]),
        .executable(name: "hlsget", targets: ["hlsget"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // Of HLSKitObservability alone.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // C libraries, as the system's packages install them. zlib is linked. Of the others only the headers are needed to
        // build: they are opened when they are needed, and pkg-config would link them. Where the headers are not in a folder
        // that clang searches, `-Xcc -I…` names it.
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibAV",
            providers: [.apt(["libavcodec-dev", "libavformat-dev", "libswresample-dev", "libswscale-dev"])]),

        // mallopt(3), which Swift's Glibc module leaves out.
        .systemLibrary(name: "CMalloc"),

        // Values without I/O and without C.
        .target(name: "HLSKitTime", swiftSettings: swiftSettings),
        .target(name: "HLSKitPlaylist", dependencies: ["HLSKitTime"], swiftSettings: swiftSettings),
        .target(name: "HLSKitMedia", dependencies: ["HLSKitTime"], swiftSettings: swiftSettings),
        .target(name: "HLSKitCaptions", dependencies: ["HLSKitTime", "HLSKitMedia"], swiftSettings: swiftSettings),

        // The client.
        .target(
            name: "HLSKitCore",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "CCurl", "CZlib", "CCrypto", "CLibAV",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings),
        // Names in the reader's language: a module of its own, for it links ICU.
        .target(name: "HLSKitLocalization", dependencies: ["HLSKitCore"], swiftSettings: swiftSettings),
        // Metrics, traces and services: a module of its own, for what it depends on.
        .target(
            name: "HLSKitObservability",
            dependencies: [
                "HLSKitCore",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings),
        .target(name: "HLSKitSimulation", dependencies: ["HLSKitCore", "HLSKitTime"], swiftSettings: swiftSettings),
        .executableTarget(
            name: "hlsget",
            dependencies: [
                "HLSKitCore", "HLSKitSimulation", "HLSKitMedia", "HLSKitCaptions", "CMalloc",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),

        // What tests of several modules need: programs, folders, servers, the bundled sample.
        .target(
            name: "TestSupport", dependencies: ["HLSKitCore"], path: "Tests/TestSupport", swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitTimeTests", dependencies: ["HLSKitTime"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitPlaylistTests", dependencies: ["HLSKitPlaylist", "HLSKitCore"], swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitMediaTests", dependencies: ["HLSKitMedia", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitCaptionsTests", dependencies: ["HLSKitCaptions", "HLSKitCore"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitCoreTests",
            dependencies: ["HLSKitCore", "HLSKitLocalization", "HLSKitSimulation", "TestSupport", "CLibAV"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitSimulationTests",
            dependencies: [
                "HLSKitCore", "HLSKitSimulation", "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitObservabilityTests",
            dependencies: [
                "HLSKitCore", "HLSKitObservability", "HLSKitSimulation", "TestSupport",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings),
        // The example packages, which are not built by themselves here.
        .testTarget(
            name: "TunnelTests", dependencies: ["HLSKitCore", "HLSKitSimulation"],
            path: "Examples/TunnelTest/Tests/TunnelTests"),
        .executableTarget(
            name: "Thumbnailer", dependencies: ["HLSKitCore"], path: "Examples/Thumbnailer/Sources/Thumbnailer"),
        .testTarget(
            name: "ThumbnailerTests", dependencies: ["Thumbnailer"],
            path: "Examples/Thumbnailer/Tests/ThumbnailerTests"),
        .executableTarget(
            name: "PlayToFrames", dependencies: ["HLSKitCore"], path: "Examples/PlayToFrames/Sources/PlayToFrames"),
        .testTarget(
            name: "PlayToFramesTests", dependencies: ["PlayToFrames"],
            path: "Examples/PlayToFrames/Tests/PlayToFramesTests"),
        .executableTarget(
            name: "LanguageSwitcher", dependencies: ["HLSKitCore"],
            path: "Examples/LanguageSwitcher/Sources/LanguageSwitcher"),
        .testTarget(
            name: "LanguageSwitcherTests", dependencies: ["LanguageSwitcher"],
            path: "Examples/LanguageSwitcher/Tests/LanguageSwitcherTests"),
        .executableTarget(
            name: "Probe", dependencies: ["HLSKitCore"], path: "Examples/Probe/Sources/Probe"),
        .testTarget(
            name: "ProbeTests", dependencies: ["Probe"], path: "Examples/Probe/Tests/ProbeTests"),
        .executableTarget(
            name: "GPSOverlay", dependencies: ["HLSKitCore"], path: "Examples/GPSOverlay/Sources/GPSOverlay"),
        .testTarget(
            name: "GPSOverlayTests", dependencies: ["GPSOverlay", "HLSKitCore"],
            path: "Examples/GPSOverlay/Tests/GPSOverlayTests"),
        .executableTarget(
            name: "Monitor", dependencies: ["HLSKitCore"], path: "Examples/Monitor/Sources/Monitor"),
        .testTarget(
            name: "MonitorTests", dependencies: ["Monitor", "HLSKitCore", "HLSKitSimulation"],
            path: "Examples/Monitor/Tests/MonitorTests"),
        .executableTarget(
            name: "ChannelRecorder",
            dependencies: [
                "HLSKitCore", "HLSKitObservability", .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/ChannelRecorder/Sources/ChannelRecorder"),
        .testTarget(
            name: "ChannelRecorderTests",
            dependencies: [
                "ChannelRecorder", "HLSKitCore", "HLSKitObservability", "HLSKitSimulation",
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            path: "Examples/ChannelRecorder/Tests/ChannelRecorderTests"),
        .testTarget(name: "hlsgetTests", dependencies: ["hlsget", "TestSupport"], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
