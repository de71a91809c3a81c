import Foundation
import TestSupport
import Testing

@Suite("hlsget download of encrypted streams", .timeLimit(.minutes(2)))
struct DownloadEncryptionTests {
    private static let key: [UInt8] = (1...16).map { $0 * 11 }

    private static func encrypted(_ bytes: [UInt8]) throws -> [UInt8] {
        let digits = key.map { String(format: "%02x", $0) }.joined()
        let vector = String(repeating: "0", count: 31) + "7"
        return try Tool.run(["openssl", "enc", "-aes-128-cbc", "-K", digits, "-iv", vector], input: bytes)
    }

    /// The cut stream with its frames encrypted; each segment names the key by another URL.
    private static func files() throws -> [String: [UInt8]] {
        var files = try CutStream.files()
        for index in 0..<SampleMedia.segmentCount {
            files["v\(index).m4s"] = try encrypted(files["v\(index).m4s"] ?? [])
        }
        var text = String(decoding: files["v.m3u8"] ?? [], as: UTF8.self)
        for index in 0..<SampleMedia.segmentCount {
            let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin?n=\(index)\",IV=0x00000000000000000000000000000007"
            text = text.replacing("\nv\(index).m4s", with: "\nv\(index).m4s\n\(tag)")
        }
        // The key of a segment stands before it.
        let first = "#EXT-X-KEY:METHOD=AES-128,URI=\"key.bin\",IV=0x00000000000000000000000000000007\n#EXTINF"
        if let range = text.firstRange(of: "#EXTINF") { text.replaceSubrange(range, with: first) }
        files["v.m3u8"] = Array(text.utf8)
        files["key.bin"] = key
        return files
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var fault: FaultyOrigin.Fault
        var count: Int
        var file: String
        /// None: all is there.
        var missing = 0
        var testDescription: String { name }
    }

    @Test(
        "S02, R51, R52, R67: what was damaged once is asked for again, key and segments; what stays so is missing",
        arguments: [
            Case(name: "a page once", fault: .bytes(FaultyOrigin.page), count: 1, file: "v3.m4s"),
            Case(
                name: "a page of whole blocks once",
                fault: .bytes(Array((FaultyOrigin.page + FaultyOrigin.page)[..<80])), count: 1, file: "v3.m4s"),
            Case(name: "cut once", fault: .bytes(Array(repeating: 0x9C, count: 1001)), count: 1, file: "v3.m4s"),
            Case(name: "another key once", fault: .bytes(Array(repeating: 7, count: 16)), count: 3, file: "key.bin"),
            Case(
                name: "never what it should be", fault: .bytes(Array(repeating: 0x9C, count: 1600)), count: .max,
                file: "v5.m4s", missing: 1),
            Case(name: "always a page", fault: .bytes(FaultyOrigin.page), count: .max, file: "v5.m4s", missing: 1),
        ])
    func damaged(_ c: Case) async throws {
        let folder = try ScratchFolder()
        let origin = FaultyOrigin(try Self.files(), [c.file: (c.fault, c.count)])
        try await withServer(answering: origin.answer) { server in
            let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors.contains("missing") == (c.missing > 0))
            #expect(!result.errors.contains("a segment cannot be read"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.mp4"])
        let pictures = try await FaultyOrigin.pictures("a.mp4", in: folder)
        let all = try SampleMedia.frameHashes(of: "180p")
        #expect(c.missing > 0 ? pictures.count == 900 : pictures == all)
    }

    @Test("R51: where the key is always wrong, the error names it, and the folder is there for another run")
    func wrongKey() async throws {
        let folder = try ScratchFolder()
        let files = try Self.files()
        let wrong = FaultyOrigin(files, ["key.bin": (.bytes(Array(repeating: 7, count: 16)), .max)])
        let right = FaultyOrigin(files)
        for (origin, status) in [(wrong, Int32(7)), (right, 0)] {
            try await withServer(answering: origin.answer) { server in
                let result = try await hlsget("download", "-o", "a.mp4", "\(server.url)/master.m3u8", in: folder)
                #expect(result.status == status, "\(result.errors)")
                #expect(status == 0 || result.errors.contains("key.bin"))
            }
        }
        #expect(try await FaultyOrigin.pictures("a.mp4", in: folder) == SampleMedia.frameHashes(of: "180p"))
    }
}
