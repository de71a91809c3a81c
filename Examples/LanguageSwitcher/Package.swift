// swift-tools-version: 6.2
// A stream in all its languages, one after the other: `swift run LanguageSwitcher URL [SECONDS]` in this folder. The tests of HLSKit run
// it, too.

import PackageDescription

let package = Package(
    name: "LanguageSwitcher",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "LanguageSwitcher", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(
            name: "LanguageSwitcherTests",
            dependencies: [
                "LanguageSwitcher", .product(name: "HLSKitCore", package: "HLSKit"),
                .product(name: "HLSKitSimulation", package: "HLSKit"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
