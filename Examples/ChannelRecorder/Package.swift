// swift-tools-version: 6.2
// Records channels in hourly files: `swift run ChannelRecorder FOLDER NAME=URL…` in this folder. The tests of HLSKit run it, too.

import PackageDescription

let package = Package(
    name: "ChannelRecorder",
    dependencies: [
        .package(name: "HLSKit", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "ChannelRecorder",
            dependencies: [
                .product(name: "HLSKitCore", package: "HLSKit"),
                .product(name: "HLSKitObservability", package: "HLSKit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "ChannelRecorderTests",
            dependencies: [
                "ChannelRecorder", .product(name: "HLSKitSimulation", package: "HLSKit"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
