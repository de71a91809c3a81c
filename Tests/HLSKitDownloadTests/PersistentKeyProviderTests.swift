import Foundation
import HLSKitDownload
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSimulation
import Synchronization
import TestSupport
import Testing

@Suite("Keys on disk", .timeLimit(.minutes(10)))
struct PersistentKeyProviderTests {
    private static let bytes: [UInt8] = (0..<16).map { $0 * 3 }

    private final class Server: KeyProvider {
        private struct State {
            var key: ContentKey?
            var error: HLSError.Code?
            var reasons: [ContentKeyRequest.Reason] = []
        }

        let keyFormats: Set<String> = ["com.example"]
        private let state = Mutex(State())

        init(_ key: ContentKey?) { state.withLock { $0.key = key } }

        var reasons: [ContentKeyRequest.Reason] { state.withLock { $0.reasons } }

        func set(_ key: ContentKey?, failing error: HLSError.Code? = nil) {
            state.withLock { ($0.key, $0.error) = (key, error) }
        }

        func key(for request: ContentKeyRequest) async throws -> ContentKey? {
            let (key, error) = state.withLock { state in
                state.reasons.append(request.reason)
                return (state.key, state.error)
            }
            if error == .timedOut { try await Task.sleep(for: .seconds(86_400)) }
            if let error { throw HLSError(code: error, url: request.url, cause: "no") }
            return key
        }
    }

    private final class Calendar: Sendable {
        private let seconds = Mutex<Int64>(1_000_000)
        func advance(by count: Int64) { seconds.withLock { $0 += count } }
        var now: PlaylistDate { PlaylistDate(seconds: seconds.withLock { $0 }) }
    }

    private static func request(_ url: String = "skd://a", _ reason: ContentKeyRequest.Reason = .needed)
        -> ContentKeyRequest
    {
        ContentKeyRequest(url: url, keyFormat: "com.example", itemURL: "https://host/main.m3u8", reason: reason)
    }

    private let folder: ScratchFolder
    private let calendar = Calendar()
    private let clock = VirtualClock()

    init() throws { folder = try ScratchFolder() }

    private func provider(_ server: Server) throws -> PersistentKeyProvider {
        try PersistentKeyProvider(
            server, folder: folder.path + "/keys", clock: clock, now: { [calendar] in calendar.now })
    }

    private func key(
        of provider: PersistentKeyProvider, _ url: String = "skd://a", _ reason: ContentKeyRequest.Reason = .needed
    ) throws -> ContentKey? {
        try clock.run { try await provider.key(for: Self.request(url, reason)) }
    }

    @Test("N04: a stored key is returned without a request, also after a restart; it can be removed")
    func stored() throws {
        let server = Server(ContentKey(Self.bytes))
        let first = try provider(server)
        #expect(try key(of: first)?.bytes == Self.bytes)
        server.set(nil)
        let second = try provider(server)
        #expect(try key(of: second)?.bytes == Self.bytes)
        #expect(server.reasons == [.needed])
        #expect(try key(of: second, "skd://b") == nil, "another key")
        #expect(try clock.run { await second.storedKeyURLStrings } == ["skd://a"])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/keys")
        #expect(names.count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/keys/\(names[0])")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try clock.run { await second.removeKeys(atURLString: "skd://a") }
        #expect(try key(of: second) == nil)
    }

    @Test("N04: all stored keys can be removed")
    func removed() throws {
        let server = Server(ContentKey(Self.bytes))
        let provider = try provider(server)
        for url in ["skd://a", "skd://b"] { #expect(try key(of: provider, url)?.bytes == Self.bytes) }
        #expect(try clock.run { await provider.storedKeyURLStrings } == ["skd://a", "skd://b"])
        try clock.run { await provider.removeAllKeys() }
        #expect(try clock.run { await provider.storedKeyURLStrings }.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/keys").isEmpty)
        server.set(nil)
        for url in ["skd://a", "skd://b"] { #expect(try key(of: provider, url) == nil) }
    }

    @Test("N04: a key that may not be stored is not stored, and removes the stored one")
    func notPersistable() throws {
        let server = Server(ContentKey(Self.bytes))
        let provider = try provider(server)
        _ = try key(of: provider)
        var secret = ContentKey(Self.bytes)
        secret.isPersistable = false
        server.set(secret)
        #expect(try key(of: provider, "skd://a", .receivedObsoleteContentKey)?.bytes == Self.bytes)
        #expect(try clock.run { await provider.storedKeyURLStrings }.isEmpty)
        #expect(server.reasons == [.needed, .receivedObsoleteContentKey])
    }

    @Test("N04: an expired key is requested again; a stored key reports its remaining time")
    func expiration() throws {
        let server = Server(ContentKey(Self.bytes, expirationInterval: .seconds(100)))
        let provider = try provider(server)
        _ = try key(of: provider)
        server.set(nil)
        calendar.advance(by: 60)
        #expect(try key(of: provider)?.expirationInterval == .seconds(40))
        calendar.advance(by: 40)
        #expect(try key(of: provider) == nil)
        #expect(server.reasons == [.needed, .needed])
    }

    @Test(
        "N04: a key due for renewal is requested; if no server responds, the old one stays in use",
        arguments: [HLSError.Code.cannotConnect, .timedOut, .application])
    func renewal(error: HLSError.Code) throws {
        let server = Server(ContentKey(Self.bytes, renewalInterval: .seconds(100), expirationInterval: .seconds(200)))
        let provider = try provider(server)
        _ = try key(of: provider)
        calendar.advance(by: 100)
        server.set(nil, failing: error)
        let offline = try key(of: provider)
        #expect(offline?.bytes == Self.bytes)
        #expect(offline?.renewalInterval == .seconds(60), "and asked for again soon")
        #expect(offline?.expirationInterval == .seconds(100))
        server.set(ContentKey([UInt8](repeating: 1, count: 16)))
        #expect(try key(of: provider, "skd://a", .renewal)?.bytes.first == 1)
        server.set(nil)
        #expect(try key(of: provider)?.bytes.first == 1)
        #expect(server.reasons == [.needed, .needed, .renewal])
        calendar.advance(by: 1_000)
        server.set(nil, failing: error)
        #expect(try key(of: provider)?.expirationInterval == nil)
    }

    @Test("N04: a damaged key file is ignored")
    func damaged() throws {
        let server = Server(ContentKey(Self.bytes))
        let provider = try provider(server)
        _ = try key(of: provider)
        let path =
            folder.path + "/keys/" + (try FileManager.default.contentsOfDirectory(atPath: folder.path + "/keys"))[0]
        let whole = try #require(FileManager.default.contents(atPath: path))
        for count in 0..<whole.count {
            try whole.prefix(count).write(to: URL(fileURLWithPath: path))
            #expect(try key(of: provider, "skd://a")?.bytes == Self.bytes)
            #expect(try #require(FileManager.default.contents(atPath: path)) == whole, "it is written again")
        }
        #expect(server.reasons.count == 1 + whole.count)
    }
}
