import Foundation
import HLSKitCore
import TestSupport
import Testing

@Suite("Files and data: URLs", .timeLimit(.minutes(10)))
struct LocalTransportTests {
    @Test("folders, pipes and devices are refused without being opened")
    func notFiles() async throws {
        let folder = try ScratchFolder()
        mkfifo(folder.path + "/pipe", 0o600)
        let transport = LocalTransport()
        for (path, kind) in [(folder.path, "folder"), (folder.path + "/pipe", "pipe"), ("/dev/zero", "device")] {
            let result = await transport.load("file://" + path)
            #expect(result.error?.code == .refused)
            #expect(result.error?.text.contains(kind) == true)
        }
    }

    @Test("escaped names are read, and unreadable files are reported in errno's words")
    func names() async throws {
        let folder = try ScratchFolder()
        try folder.write([1, 2, 3], to: "a ü?.ts")
        let transport = LocalTransport()
        #expect(await transport.load("file://\(folder.path)/a%20%C3%BC%3F.ts?query").bytes == [1, 2, 3])
        #expect(await transport.load("file://localhost\(folder.path)/a%20%C3%BC%3F.ts").bytes == [1, 2, 3])
        let missing = await transport.load("file://\(folder.path)/b.ts")
        #expect(missing.error?.text == "stat \(folder.path)/b.ts: errno 2: No such file or directory")
        let below = await transport.load("file://\(folder.path)/a%20%C3%BC%3F.ts/c")
        #expect(below.error?.code == .fileNotFound)
        try folder.write([1], to: "secret")
        chmod(folder.path + "/secret", 0)
        // The superuser may read every file.
        if geteuid() != 0 {
            #expect(await transport.load("file://\(folder.path)/secret").error?.code == .fileNotReadable)
        }
    }

    @Test(
        "URLs that name no local file are refused",
        arguments: [
            ("file://server/x", LoadingError.Code.refused), ("file:x", .badURL), ("file:///a%00b", .badURL),

        ])
    func badURLs(_ url: String, _ code: LoadingError.Code) async {
        #expect(await LocalTransport().load(url).error?.code == code)
    }

    @Test(
        "data: URLs supply bytes for keys (R54)",
        arguments: [
            ("data:;base64,AAECAw==", [0, 1, 2, 3]), ("data:text/plain,a%20b", [0x61, 0x20, 0x62]),
            ("DATA:application/octet-stream;BASE64,%41A==", [0]), ("data:,%0", [0x25, 0x30]),
        ] as [(String, [UInt8])])
    func data(_ url: String, _ bytes: [UInt8]) async {
        let result = await LocalTransport().load(url, .key)
        #expect(result.error == nil)
        #expect(result.bytes == bytes)
        #expect(result.metrics.protocolName == "data")
    }

    @Test(
        "invalid, oversized or non-key data: URLs fail and are not shown",
        arguments: [
            ("data:;base64,A", ResourceClass.key, LoadingError.Code.badURL), ("data:;base64,A!==", .key, .badURL),
            ("data:secret", .key, .badURL), ("data:,secret", .segment, .refused), ("data:,", .key, .emptyBody),
            ("data:," + String(repeating: "x", count: 1025), .key, .tooLarge),
            ("data:," + String(repeating: "x", count: 10_000), .key, .tooLarge),
        ])
    func badData(_ url: String, _ resourceClass: ResourceClass, _ code: LoadingError.Code) async {
        let result = await LocalTransport().load(url, resourceClass)
        #expect(result.error?.code == code)
        #expect(result.error?.description.contains("secret") == false)
    }

    @Test("each scheme goes to its transport, and others are refused")
    func dispatch() async throws {
        let folder = try ScratchFolder()
        let file = try folder.write([7], to: "x")
        let transport = SchemeTransport(
            network: CurlTransport(configuration: .init(proxy: .none)), local: LocalTransport())
        #expect(await transport.load("FILE://" + file).bytes == [7])
        #expect(await transport.load("data:,k", .key).bytes == [0x6B])
        #expect(await transport.load("rtmp://127.0.0.1/x").error?.code == .refused)
        try await withServer(answering: { connection, _ in connection.respond([8]) }) { server in
            #expect(await transport.load(server.url).bytes == [8])
        }
    }

    @Test("with only network URLs allowed, files and data: URLs are refused before they are opened")
    func allowedSchemes() async throws {
        let folder = try ScratchFolder()
        try folder.write([1, 2, 3], to: "a.ts")
        let url = "file://\(folder.path)/a.ts"
        #expect(await SchemeTransport(configuration: TransportConfiguration()).load(url).bytes == [1, 2, 3])
        let transport = SchemeTransport(configuration: TransportConfiguration(allowedSchemes: ["http", "https"]))
        for refused in [url, url.replacing("file:", with: "FILE:"), "data:,x", "file:///no/such", "ftp://h/x"] {
            let error = await transport.load(refused).error
            #expect(error?.code == .refused, "\(refused)")
            #expect(error?.text.contains("is not allowed") == true, "\(refused)")
        }
    }
}
