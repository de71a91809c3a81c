// swift-tools-version: 6.2
// libFuzzer targets; a package of its own, since they need the sanitizer. scripts/build-rest sees that all compile. Build and
// run, one at a time:
//
//   swift build -c release --sanitize=fuzzer -Xswiftc -enable-testing --product FuzzPlaylist
//   SWIFT_BACKTRACE=enable=no .build/release/FuzzPlaylist -max_total_time=600 new-corpus corpus
//
// What a fuzzer finds goes into corpus/ and is replayed by CorpusTests; of caption files into corpus-captions/, with the
// ending of its format, and is replayed by CaptionCorpusTests; of media into the folder of its kind in corpus-media/, and
// is replayed by DemuxerCorpusTests (closed captions by CaptionCorpusTests); scripts/make-fuzz-seeds makes the seeds
// there. Journals of downloads and recordings have their seeds in corpus-files/; DownloadJournalTests and
// RecordingDamageTests replay them. Live reloads with deltas are FuzzMerging's. Media also take the fixtures of the tests as seeds, and the sanitizer of addresses:
//
//   swift build -c release --sanitize=fuzzer -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address --product FuzzTransportStream
//   .build/release/FuzzTransportStream -max_len=20000 new-corpus corpus-media/transport-stream ../Tests/Fixtures/media

import PackageDescription

func fuzzer(_ name: String, of modules: String...) -> Target {
    .executableTarget(
        name: name, dependencies: (["HLSKitTime"] + (modules.isEmpty ? ["HLSKitPlaylist"] : modules)).map { .product(name: $0, package: "HLSKit") },
        swiftSettings: [
            .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"), .unsafeFlags(["-parse-as-library"]),
        ])
}

let package = Package(
    name: "Fuzz", dependencies: [.package(name: "HLSKit", path: "..")],
    targets: [
        fuzzer("FuzzAttributes"), fuzzer("FuzzPlaylist"), fuzzer("FuzzWriter"), fuzzer("FuzzMerging"),
        fuzzer("FuzzWebVTT", of: "HLSKitCaptions"), fuzzer("FuzzSubRip", of: "HLSKitCaptions"),
        fuzzer("FuzzTimedText", of: "HLSKitCaptions"), fuzzer("FuzzScenarist", of: "HLSKitCaptions"),
        fuzzer("FuzzWebVTTSample", of: "HLSKitMedia"), fuzzer("FuzzClosedCaptions", of: "HLSKitCaptions", "HLSKitMedia"),
        fuzzer("FuzzTransportStream", of: "HLSKitMedia"), fuzzer("FuzzFragmentedMP4", of: "HLSKitMedia"),
        fuzzer("FuzzProgressiveMP4", of: "HLSKitMedia"), fuzzer("FuzzPackedAudio", of: "HLSKitMedia"),
        fuzzer("FuzzWebVTTSegment", of: "HLSKitMedia"), fuzzer("FuzzVideo", of: "HLSKitMedia"),
        fuzzer("FuzzJournal", of: "HLSKitCore"), fuzzer("FuzzRecording", of: "HLSKitCore", "HLSKitSimulation"),
    ], swiftLanguageModes: [.v6])
