import Foundation
import HLSKitMedia
import Testing

/// Rewrite the dumps with `HLSKIT_REWRITE_GOLDEN=1`, then review the differences.
@Suite struct MP4GoldenTests {
    @Test("J01: each file gives the tracks and samples of its dump", arguments: MP4Fixture.all)
    func dump(name: String) throws {
        let dump = MP4Fixture.demux(try MP4Fixture.bytes(name), of: name).dump
        let file = MP4Fixture.folder.appendingPathComponent(name + ".samples.txt")
        if ProcessInfo.processInfo.environment["HLSKIT_REWRITE_GOLDEN"] == "1" {
            try Data(dump.utf8).write(to: file)
        }
        #expect(dump == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
