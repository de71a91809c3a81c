// swift-tools-version: 6.2
// How a program tests itself against a bad network: `swift test` in this folder. The tests of HLSKit run it, too.

import PackageDescription

let package = Package(
    name: "TunnelTest",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .testTarget(
            name: "TunnelTests",
            dependencies: [
                .product(name: "HLSKitCore", package: "HLSKit"), .product(name: "HLSKitSimulation", package: "HLSKit"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
