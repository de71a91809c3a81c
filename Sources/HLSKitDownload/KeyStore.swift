import Glibc
import HLSKitCodec
import HLSKitLoading
import HLSKitOutput
import HLSKitPlaylist
import HLSKitTime

/// Stores keys in a folder, each in a file that only its owner can read. Blocks the calling thread on disk access.
final class KeyStore: Sendable {
    struct Entry: Sendable, Hashable {
        var url: String
        var keyFormat: String
        var bytes: [UInt8]
        /// In seconds since 1970.
        var renewal: Int64?
        var expiration: Int64?
    }

    private static let ending = ".key"
    private static let firstLine = "HLSKit key 1"
    private static let maximumByteCount = 16 << 10

    private let folder: SafeFolder

    init(path: String) throws(HLSError) { folder = try SafeFolder(making: path) }

    // MARK: Reading

    /// The key for a URL and a key system, or `nil` if none is stored or its file is damaged.
    func entry(url: String, keyFormat: String) -> Entry? {
        guard let name = Self.name(url, keyFormat), let entry = Self.entry(bytes(of: name)), entry.url == url,
            entry.keyFormat == keyFormat
        else { return nil }
        return entry
    }

    var entries: [Entry] {
        folder.names().filter { $0.hasSuffix(Self.ending) }.compactMap { Self.entry(bytes(of: $0)) }
    }

    private func bytes(of name: String) -> [UInt8] {
        let descriptor = folder.open(name, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let bytes = Descriptor.read(descriptor, atMost: Self.maximumByteCount + 1) ?? []
        return bytes.count <= Self.maximumByteCount ? bytes : []
    }

    // MARK: Writing

    /// Writes a key and flushes it to the disk, replacing any earlier one.
    func write(_ entry: Entry) throws(HLSError) {
        guard let name = Self.name(entry.url, entry.keyFormat) else { return }
        let new = name + ".new"
        folder.remove(new)
        let descriptor = try folder.openOwn(new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        let bytes = Self.bytes(of: entry)
        // A file of less than a page is written either completely or not at all.
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let error = SafeFile.error("\(folder.path)/\(new)")
        close(descriptor)
        guard isWritten else {
            folder.remove(new)
            throw error
        }
        guard folder.rename(new, to: name), folder.sync() else { throw SafeFile.error("\(folder.path)/\(name)") }
    }

    func remove(url: String, keyFormat: String) {
        if let name = Self.name(url, keyFormat) { folder.remove(name) }
    }

    func removeAll() {
        for name in folder.names() where name.hasSuffix(Self.ending) { folder.remove(name) }
    }

    // MARK: Files

    private static func name(_ url: String, _ keyFormat: String) -> String? {
        guard let hash = try? LibraryDigest(.md5) else { return nil }
        Array("\(keyFormat)\n\(url)".utf8).withUnsafeBytes { hash.update($0) }
        return hash.finish() + ending
    }

    private static func bytes(of entry: Entry) -> [UInt8] {
        let texts = [Array(entry.url.utf8), Array(entry.keyFormat.utf8), entry.bytes].map { Base64.encoded($0) }
        let dates = [entry.renewal, entry.expiration].map { $0.map(String.init) ?? "never" }
        return Array(([firstLine] + texts + dates).joined(separator: "\n").utf8) + [0x0A]
    }

    private static func entry(_ bytes: [UInt8]) -> Entry? {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
        guard lines.count == 7, lines[6].isEmpty, String(decoding: lines[0], as: UTF8.self) == firstLine,
            let url = Base64.decoded(lines[1]), let format = Base64.decoded(lines[2]),
            let key = Base64.decoded(lines[3]), case .some(let renewal) = date(lines[4]),
            case .some(let expiration) = date(lines[5])
        else { return nil }
        return Entry(
            url: String(decoding: url, as: UTF8.self), keyFormat: String(decoding: format, as: UTF8.self), bytes: key,
            renewal: renewal, expiration: expiration)
    }

    /// Parses a date or `never`. The result is `nil` if the text is neither.
    private static func date(_ text: [UInt8]) -> Int64?? {
        let text = String(decoding: text, as: UTF8.self)
        if text == "never" { return .some(nil) }
        return Int64(text).map { .some($0) }
    }
}
