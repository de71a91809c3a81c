import Foundation
import HLSKitPlaylist

/// The decrypted bytes of one segment and of its initialization section.
struct SegmentSource {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    var name: String
    var map: [UInt8]?
    var bytes: [UInt8]

    /// Returns the media playlist at the URL, or all media playlists that a multivariant playlist names.
    static func mediaPlaylists(at url: String) throws -> [MediaPlaylist] {
        switch try Playlist(parsing: load(url), url: url) {
        case .media(let playlist): return [playlist]
        case .multivariant(let playlist):
            var urls: [String] = []
            for uri in playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri) {
                if let url = playlist.resolve(uri), !urls.contains(url) { urls.append(url) }
            }
            var options = PlaylistParser.Options()
            options.importedVariables = Dictionary(
                playlist.definitions.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            return try urls.map { try MediaPlaylist(parsing: load($0), url: $0, options: options) }
        }
    }

    init(_ segment: MediaSegment, of playlist: MediaPlaylist) throws {
        guard let url = playlist.resolve(segment.uri) else { throw Failure(description: "a bad address") }
        name = url + (segment.byteRange.map { " \($0.offset)+\($0.length)" } ?? "")
        var bytes = try Self.load(url, segment.byteRange)
        for key in segment.keys where key.method == .aes128 {
            guard let uri = key.uri, let keyURL = playlist.resolve(uri) else { continue }
            bytes = try Self.decrypt(
                bytes, key: Self.load(keyURL), iv: segment.initializationVector(for: key))
        }
        self.bytes = bytes
        if let section = segment.map, let url = playlist.resolve(section.uri) {
            map = try Self.load(url, section.byteRange)
        }
    }

    var whole: [UInt8] { (map ?? []) + bytes }

    private static func load(_ url: String, _ range: ByteRange? = nil) throws -> [UInt8] {
        var arguments = ["-sSfL", "--compressed", url.split(separator: "#").first.map(String.init) ?? url]
        if let range { arguments += ["-r", "\(range.offset)-\(range.end - 1)"] }
        return try run("curl", arguments)
    }

    private static func decrypt(_ bytes: [UInt8], key: [UInt8], iv: [UInt8]) throws -> [UInt8] {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        return try TemporaryFile.with(bytes) { path in
            try run("openssl", ["enc", "-d", "-aes-128-cbc", "-K", hex(key), "-iv", hex(iv), "-in", path])
        }
    }

    static func run(_ program: String, _ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) has ended with \(process.terminationStatus)")
        }
        return [UInt8](data)
    }
}

enum TemporaryFile {
    static func with<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "packets-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }
}
