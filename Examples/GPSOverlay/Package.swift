// swift-tools-version: 6.2
// Pictures with the place at which they were taken: `swift run GPSOverlay URL FOLDER [COUNT]` in this folder. The tests of
// HLSKit run it, too.

import PackageDescription

let package = Package(
    name: "GPSOverlay",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "GPSOverlay", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(name: "GPSOverlayTests", dependencies: ["GPSOverlay"]),
    ],
    swiftLanguageModes: [.v6]
)
