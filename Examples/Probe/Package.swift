// swift-tools-version: 6.2
// What a stream is and how it plays, as lines of JSON: `swift run Probe URL` in this folder. The tests of HLSKit run
// it, too.

import PackageDescription

let package = Package(
    name: "Probe",
    dependencies: [.package(name: "HLSKit", path: "../..")],
    targets: [
        .executableTarget(name: "Probe", dependencies: [.product(name: "HLSKitCore", package: "HLSKit")]),
        .testTarget(name: "ProbeTests", dependencies: ["Probe"]),
    ],
    swiftLanguageModes: [.v6]
)
