// swift-tools-version: 6.2
// A stream played to pictures in memory: `swift run PlayToFrames URL [COUNT]` in this folder. The tests of HLSKit run
// it, too.

import PackageDescription

let package = Package(
    name: "PlayToFrames",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "PlayToFrames", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(name: "PlayToFramesTests", dependencies: ["PlayToFrames"]),
    ],
    swiftLanguageModes: [.v6]
)
