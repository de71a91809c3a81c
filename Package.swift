// swift-tools-version: 6.2
// HLSKit: an HLS streaming client for Linux. The map of the modules is in CONTRIBUTING.md.

import PackageDescription

// scripts/test sets this and builds for release, so that the packages are optimized: in a debug build the argument parser
// checks all options of the command whenever it starts. Of our own modules, only those in which the tests spend most of
// their time are optimized, because the others compile faster without.
let isTested = Context.environment["HLSKIT_OPTIMIZED_TESTS"] != nil

let busySettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isTested ? [.define("DEBUG")] : [])
let swiftSettings = busySettings + (isTested ? [.unsafeFlags(["-Onone"])] : [])

// Packages that only some users need belong to a trait: a package that asks for fewer traits does not even resolve them.
// No trait enables another one, because each that is enabled becomes an option of the compiler, and SwiftPM 6.3 orders these
// by chance whenever it plans a build: with two traits, a new file anywhere compiles every module again.
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Logging", "Observability", "All"]))
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command", "All"]))
func observability(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Observability", "All"]))
}

/// What `import HLSKitCore` brings.
let client = [
    "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection", "HLSKitEngine",
    "HLSKitNetwork", "HLSKitCodec", "HLSKitAsset", "HLSKitOutput", "HLSKitPlayback", "HLSKitDownload", "HLSKitImaging",
]

let package = Package(
    name: "HLSKit",
    products: [
        // Each with all modules that it exports or whose types it has: programs are compiled again if one of these changes.
        .library(name: "HLSKitCore", targets: ["HLSKitCore"] + client),
        .library(name: "HLSKitLocalization", targets: ["HLSKitLocalization", "HLSKitCore"] + client),
        .library(name: "HLSKitObservability", targets: ["HLSKitObservability", "HLSKitCore"] + client),
        .library(name: "HLSKitSimulation", targets: ["HLSKitSimulation", "HLSKitCore"] + client),
        .library(name: "HLSKitPlaylist", targets: ["HLSKitPlaylist", "HLSKitTime"]),
        .library(name: "HLSKitMedia", targets: ["HLSKitMedia", "HLSKitTime"]),
        .library(name: "HLSKitCaptions", targets: ["HLSKitCaptions", "HLSKitMedia", "HLSKitTime"]),
        .library(name: "HLSKitTime", targets: ["HLSKitTime"]),
        .executable(name: "hlsget", targets: ["hlsget"]),
    ],
    traits: [
        .trait(name: "Logging", description: "Players write to a logger of swift-log."),
        .trait(
            name: "Observability",
            description: "The product HLSKitObservability: metrics, traces, services; and Logging."),
        .trait(name: "Command", description: "The command hlsget."),
        .trait(name: "All", description: "All of the above."),
        // So that `swift build` and `swift test` need no option here. Packages that depend on this one name what they need:
        // docs/contributing/decisions/modules.md.
        .default(enabledTraits: ["All"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // Of the trait Observability.
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

        // mallopt(3) and malloc_trim(3), which Swift's Glibc module leaves out.
        .systemLibrary(name: "CMalloc"),

        // Values without I/O and without C.
        // A program without Foundation and Glibc does not link the mathematics by itself.
        .target(name: "HLSKitTime", swiftSettings: busySettings, linkerSettings: [.linkedLibrary("m")]),
        .target(name: "HLSKitPlaylist", dependencies: ["HLSKitTime"], swiftSettings: busySettings),
        .target(name: "HLSKitMedia", dependencies: ["HLSKitTime"], swiftSettings: busySettings),
        .target(name: "HLSKitCaptions", dependencies: ["HLSKitTime", "HLSKitMedia"], swiftSettings: swiftSettings),

        // The client. What decides needs no C either.
        .target(
            name: "HLSKitLoading", dependencies: ["HLSKitTime", "HLSKitPlaylist", "HLSKitMedia"],
            swiftSettings: busySettings),
        .target(
            name: "HLSKitSelection",
            dependencies: ["HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading"],
            swiftSettings: busySettings),
        .target(
            name: "HLSKitEngine",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
            ],
            swiftSettings: busySettings),
        // What reads, writes and decodes.
        .target(
            name: "HLSKitNetwork",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitLoading", "CCurl", "CZlib", "CCrypto",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "HLSKitCodec",
            dependencies: ["HLSKitTime", "HLSKitMedia", "HLSKitPlaylist", "HLSKitLoading", "HLSKitNetwork", "CLibAV"],
            swiftSettings: busySettings),
        .target(
            name: "HLSKitAsset",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitNetwork", "HLSKitCodec",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "HLSKitOutput",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitCodec", "HLSKitAsset",
            ],
            swiftSettings: busySettings),
        .target(
            name: "HLSKitPlayback",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitEngine", "HLSKitNetwork", "HLSKitCodec", "HLSKitAsset", "HLSKitOutput", "CMalloc",
                logging,
            ],
            swiftSettings: busySettings),
        .target(
            name: "HLSKitDownload",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitEngine", "HLSKitNetwork", "HLSKitCodec", "HLSKitAsset", "HLSKitOutput", "HLSKitPlayback",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "HLSKitImaging",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitEngine", "HLSKitNetwork", "HLSKitCodec", "HLSKitAsset", "HLSKitOutput", "HLSKitPlayback",
            ],
            swiftSettings: swiftSettings),
        // The module that programs import: all of the above.
        .target(
            name: "HLSKitCore",
            dependencies: [
                "HLSKitTime", "HLSKitPlaylist", "HLSKitMedia", "HLSKitCaptions", "HLSKitLoading", "HLSKitSelection",
                "HLSKitEngine", "HLSKitNetwork", "HLSKitCodec", "HLSKitAsset", "HLSKitOutput", "HLSKitPlayback",
                "HLSKitDownload", "HLSKitImaging",
            ],
            swiftSettings: swiftSettings),
        // Names in the reader's language: a module of its own, for it links ICU.
        .target(name: "HLSKitLocalization", dependencies: ["HLSKitCore"], swiftSettings: swiftSettings),
        // Metrics, traces and services: a module of its own, for what it depends on.
        .target(
            name: "HLSKitObservability",
            dependencies: [
                "HLSKitCore",
                observability("CoreMetrics", "swift-metrics"),
                logging,
                observability("ServiceLifecycle", "swift-service-lifecycle"),
                observability("Tracing", "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings),
        .target(name: "HLSKitSimulation", dependencies: ["HLSKitCore", "HLSKitTime"], swiftSettings: busySettings),
        // The command: its parts, and what puts them together.
        .target(
            name: "HLSGetKit",
            dependencies: [
                "HLSKitCore", "HLSKitSimulation", argumentParser,
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "HLSGetReport",
            dependencies: [
                "HLSGetKit", "HLSKitCore", "HLSKitSimulation",
                argumentParser,
            ],
            swiftSettings: swiftSettings),
        .target(name: "HLSGetWatch", dependencies: ["HLSGetKit", "HLSKitCore"], swiftSettings: swiftSettings),
        .target(
            name: "HLSGetMonitor",
            dependencies: [
                "HLSGetKit", "HLSKitCore", argumentParser,
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "hlsget",
            dependencies: [
                "HLSGetKit", "HLSGetReport", "HLSGetWatch", "HLSGetMonitor", "HLSKitCore", "HLSKitSimulation",
                "CMalloc",
                argumentParser,
            ],
            swiftSettings: swiftSettings),

        // What tests of several modules need: programs, folders, servers, the bundled sample.
        .target(
            name: "TestSupport", dependencies: ["HLSKitCore", "HLSKitSimulation"], path: "Tests/TestSupport",
            swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitTimeTests", dependencies: ["HLSKitTime"], swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitPlaylistTests", dependencies: ["HLSKitPlaylist"], swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitMediaTests", dependencies: ["HLSKitMedia"], swiftSettings: swiftSettings),
        .testTarget(name: "HLSKitCaptionsTests", dependencies: ["HLSKitCaptions"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitLoadingTests", dependencies: ["HLSKitCore", "HLSKitSimulation", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitSelectionTests",
            dependencies: ["HLSKitCore", "HLSKitLocalization", "HLSKitSimulation", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitEngineTests", dependencies: ["HLSKitCore", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitEngineSessionTests", dependencies: ["HLSKitCore", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitOutputTests", dependencies: ["HLSKitCore", "HLSKitSimulation", "TestSupport", "CLibAV"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitDownloadTests", dependencies: ["HLSKitCore", "HLSKitSimulation", "TestSupport"],
            swiftSettings: swiftSettings),
        // The rest plays, through all of the client.
        .testTarget(
            name: "HLSKitCoreTests",
            dependencies: ["HLSKitCore", "HLSKitLocalization", "HLSKitSimulation", "TestSupport", "CLibAV"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitSimulationTests",
            dependencies: [
                "HLSKitCore", "HLSKitSimulation", "TestSupport", logging,
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSKitObservabilityTests",
            dependencies: [
                "HLSKitCore", "HLSKitObservability", "HLSKitSimulation", "TestSupport",
                observability("InMemoryTracing", "swift-distributed-tracing"),
                logging,
                observability("MetricsTestKit", "swift-metrics"),
                observability("ServiceLifecycleTestKit", "swift-service-lifecycle"),
                observability("Tracing", "swift-distributed-tracing"),
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
            name: "LanguageSwitcherTests", dependencies: ["LanguageSwitcher", "HLSKitCore", "HLSKitSimulation"],
            path: "Examples/LanguageSwitcher/Tests/LanguageSwitcherTests"),
        .executableTarget(
            name: "Probe", dependencies: ["HLSKitCore"], path: "Examples/Probe/Sources/Probe"),
        .testTarget(
            name: "ProbeTests", dependencies: ["Probe"], path: "Examples/Probe/Tests/ProbeTests"),
        // Without the files that need Hummingbird, which takes minutes.
        .target(
            name: "ProbeServiceParts", dependencies: ["HLSKitCore", "HLSKitObservability"],
            path: "Examples/ProbeService/Sources/ProbeService", exclude: ["ProbeRoutes.swift", "ProbeService.swift"]),
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
                "HLSKitCore", "HLSKitObservability", logging,
                observability("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            path: "Examples/ChannelRecorder/Sources/ChannelRecorder"),
        .testTarget(
            name: "ChannelRecorderTests",
            dependencies: [
                "ChannelRecorder", "HLSKitCore", "HLSKitObservability", "HLSKitSimulation",
                observability("ServiceLifecycleTestKit", "swift-service-lifecycle"),
            ],
            path: "Examples/ChannelRecorder/Tests/ChannelRecorderTests"),
        .testTarget(
            name: "HLSGetMonitorTests",
            dependencies: ["HLSGetKit", "HLSGetMonitor", "HLSKitCore", "HLSKitSimulation", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSGetReportTests",
            dependencies: ["HLSGetKit", "HLSGetReport", "HLSKitCore", "HLSKitSimulation", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSGetWatchTests", dependencies: ["HLSGetKit", "HLSGetWatch", "HLSKitCore", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HLSGetEndToEndTests", dependencies: ["hlsget", "HLSKitCore", "TestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "hlsgetTests",
            dependencies: [
                "hlsget", "HLSGetKit", "HLSGetReport", "HLSGetWatch", "HLSGetMonitor", "HLSKitCore",
                "HLSKitSimulation", "TestSupport",
            ],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)

// SwiftPM compiles a target again if a module has changed that the target names. The module of HLSKitCore stays the same where a
// module has changed that it exports, and so would programs that are made of both: a structure of another size is a crash. So each
// target names all modules that it reaches.
extension Target {
    fileprivate var modules: Set<String> {
        Set(
            dependencies.compactMap { dependency in
                switch dependency {
                case .byNameItem(let name, _), .targetItem(let name, _): name
                default: nil
                }
            })
    }
}

let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
for target in package.targets {
    var reached = target.modules
    var rest = Array(reached)
    while let name = rest.popLast() {
        for next in targets[name]?.modules ?? [] where reached.insert(next).inserted { rest.append(next) }
    }
    let missing = reached.subtracting(target.modules).filter { targets[$0]?.type == .regular }
    target.dependencies += missing.sorted().map { .byName(name: $0) }

    // Nothing imports the tests, so writing their modules early would only expand all macros twice. SwiftPM looks for tests of
    // XCTest in an index, which takes a third of the time if it also contains the system's modules.
    if isTested, target.type == .test {
        let flags = ["-no-emit-module-separately-wmo", "-index-ignore-system-modules", "-index-ignore-clang-modules"]
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
    }
}
