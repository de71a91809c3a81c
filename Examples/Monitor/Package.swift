// swift-tools-version: 6.2
// Watches streams and brings back what fails: `swift run Monitor URL…` in this folder. The tests of HLSKit run it, too.

import PackageDescription

let package = Package(
    name: "Monitor",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "Monitor", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(
            name: "MonitorTests",
            dependencies: ["Monitor", .product(name: "HLSKitSimulation", package: "HLSKit")]),
    ],
    swiftLanguageModes: [.v6]
)
