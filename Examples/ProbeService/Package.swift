// swift-tools-version: 6.2
// Tells by HTTP what a stream is made of and whether it plays: `swift run ProbeService` in this folder. A package of its own,
// since Hummingbird takes minutes to build; its tests are run here: `swift test`.

import PackageDescription

let package = Package(
    name: "ProbeService",
    dependencies: [
        .package(name: "HLSKit", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "ProbeService",
            dependencies: [
                .product(name: "HLSKitCore", package: "HLSKit"),
                .product(name: "HLSKitObservability", package: "HLSKit"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "ProbeServiceTests",
            dependencies: [
                "ProbeService", .product(name: "HLSKitSimulation", package: "HLSKit"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
