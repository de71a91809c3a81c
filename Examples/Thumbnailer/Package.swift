// swift-tools-version: 6.2
// Previews of a stream as JPEG files: `swift run Thumbnailer URL FOLDER [COUNT]` in this folder. The tests of HLSKit run
// it, too.

import PackageDescription

let package = Package(
    name: "Thumbnailer",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "Thumbnailer", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(name: "ThumbnailerTests", dependencies: ["Thumbnailer"]),
    ],
    swiftLanguageModes: [.v6]
)
