import Foundation
import HLSKitCore
import HLSKitSimulation
import Testing

@Suite("Damaged recordings", .timeLimit(.minutes(10)))
struct RecordingDamageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzz/corpus-files/recording")

    private static func seeds() throws -> [[UInt8]] {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
    }

    private func check(_ bytes: [UInt8]) throws {
        guard let recording = try? NetworkRecording(parsing: bytes) else { return }
        guard let text = recording.bandwidthTrace() else { return }
        #expect(throws: Never.self) { try NetworkTrace(parsing: text.utf8) }
    }

    @Test("a complete recording is read, and shows its link")
    func whole() throws {
        for seed in try Self.seeds() {
            let recording = try NetworkRecording(parsing: seed)
            #expect(recording.isComplete && !recording.exchanges.isEmpty)
            try check(seed)
        }
    }

    @Test("reading a recording damaged anywhere ends")
    func damaged() throws {
        // Constants of Knuth's MMIX.
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = ["9223372036854775807", "-1", "1e308", "null", "\"\"", "{", "}", "[", "]", "\n", "\\ud800", "0"]
        for seed in try Self.seeds() {
            for _ in 0..<1500 {
                var bytes = seed
                for _ in 0...random(3) {
                    let place = random(bytes.count)
                    switch random(4) {
                    case 0: bytes[place] = UInt8(random(256))
                    case 1: bytes.removeSubrange(place..<max(place, min(bytes.count - 1, place + random(40))))
                    case 2: bytes.insert(contentsOf: Array(pieces[random(pieces.count)].utf8), at: place)
                    default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 200)], at: place)
                    }
                }
                try check(bytes)
            }
        }
    }
}
