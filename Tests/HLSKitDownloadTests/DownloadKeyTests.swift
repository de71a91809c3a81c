import Foundation
import HLSKitAsset
import HLSKitDownload
import HLSKitLoading
import HLSKitNetwork
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSimulation
import TestSupport
import Testing

@Suite("Keys of downloads", .timeLimit(.minutes(10)))
struct DownloadKeyTests {
    private static let url = "http://a.example/main.m3u8"
    private static let key = [UInt8](repeating: 7, count: 16)
    private static let tag =
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example",KEYFORMATVERSIONS="1""#

    private struct Provider: KeyProvider {
        var keyFormats: Set<String> { ["com.example"] }
        var key: ContentKey
        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            request.urlString == "skd://asset" && request.keyFormat == "com.example" ? key : nil
        }
    }

    private static func download(
        to folder: ScratchFolder, _ change: (inout DownloadConfiguration) -> Void
    ) throws -> (lists: String, files: [String]) {
        let clock = VirtualClock()
        let transport = ScriptedTransport(clock) { url in
            guard url == Self.url else { return .bytes((0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }) }
            let segments = (0..<3).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            return .bytes(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tag)\n\(segments)#EXT-X-ENDLIST\n".utf8))
        }
        var configuration = DownloadConfiguration(
            urlString: url, loading: AssetOptions(clock: clock, transport: transport))
        change(&configuration)
        let made = configuration
        let path = folder.path + "/d"
        try clock.run {
            let task = try await DownloadTask(made, folder: path)
            _ = try await task.run()
            try await task.writePlaylists()
            guard made.keepsEncryption else { return }
            await #expect(throws: HLSError.self) { try await task.write(to: folder.path + "/a.ts", format: .ts) }
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
        let lists = try files.filter { $0.hasSuffix(".m3u8") }
            .map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) }
        return (lists.joined(), files)
    }

    @Test("N04: an app's key is stored in the download, which then plays without the app")
    func stored() throws {
        let folder = try ScratchFolder()
        let found = try Self.download(to: folder) {
            $0.loading.hooks.keyProviders = [Provider(key: ContentKey(Self.key, renewalInterval: .seconds(9)))]
        }
        let name = try #require(found.files.first { $0.hasPrefix("key-") })
        #expect(FileManager.default.contents(atPath: "\(folder.path)/d/\(name)").map(Array.init) == Self.key)
        #expect(found.lists.contains("METHOD=SAMPLE-AES,URI=\"\(name)\""))
        #expect(!found.lists.contains("com.example"))
    }

    @Test("N04: a key that may not be stored, or expires, ends the download", arguments: [true, false])
    func notStored(isPersistable: Bool) throws {
        var key = ContentKey(Self.key, expirationInterval: isPersistable ? .seconds(60) : nil)
        key.isPersistable = isPersistable
        let secret = key
        let folder = try ScratchFolder()
        let error = #expect(throws: HLSError.self) {
            try Self.download(to: folder) { $0.loading.hooks.keyProviders = [Provider(key: secret)] }
        }
        #expect(error?.code == .contentKey && error?.cause == "the key may not be stored")
        #expect(error?.urlString == "skd://asset")
    }

    @Test("byte ranges that count decrypted bytes are loaded to the end of their last block")
    func rangesOfDecryptedBytes() throws {
        let rendition = try SampleMedia.rendition("video-180p")
        let vector = [UInt8](repeating: 0, count: 15) + [1]
        var list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\",IV=0x1\n"
        var media: [UInt8] = []
        for (index, clear) in ([rendition.initializationSection] + rendition.segments.prefix(2)).enumerated() {
            let range = "\(clear.count)@\(media.count)"
            list +=
                index == 0
                ? "#EXT-X-MAP:URI=\"a.mp4\",BYTERANGE=\"\(range)\"\n"
                : "#EXT-X-BYTERANGE:\(range)\n#EXTINF:4,\na.mp4\n"
            media += try AES128Encryptor.encrypt(clear, key: Self.key, initializationVector: vector)
        }
        let files = ["main.m3u8": Array("\(list)#EXT-X-ENDLIST\n".utf8), "k.bin": Self.key, "a.mp4": media]
        let clock = VirtualClock()
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: "1000,50000,20\n".utf8), clock: clock) {
            request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            return files[name].map { SimulatedResponse(body: $0) } ?? .notFound
        }
        let folder = try ScratchFolder()
        let configuration = DownloadConfiguration(
            urlString: Self.url, loading: AssetOptions(clock: clock, transport: transport))
        let written = try clock.run {
            let task = try await DownloadTask(configuration, folder: folder.path + "/d")
            _ = try await task.run()
            return try await task.write(to: folder.path + "/a.mp4", format: .mp4)
        }
        #expect(written.unreadable.isEmpty, "\(written.unreadable)")
        #expect(written.duration > .seconds(7.9))
    }

    @Test("N05: with encryption kept, keys are not loaded, key URLs stay, and no single file is made")
    func kept() throws {
        let folder = try ScratchFolder()
        let found = try Self.download(to: folder) { $0.keepsEncryption = true }
        #expect(!found.files.contains { $0.hasPrefix("key-") })
        #expect(found.files.count { $0.hasSuffix(".ts") } == 3)
        #expect(
            found.lists.contains(
                #"METHOD=SAMPLE-AES,URI="skd://asset",KEYFORMAT="com.example",KEYFORMATVERSIONS="1""#))
        let error = #expect(throws: HLSError.self) { try Self.download(to: folder) { _ in } }
        #expect(error?.code == .contentKey)
    }
}
