/// The valid names of a download's files. Names in a journal from elsewhere are rejected if they do not match.
enum DownloadName {
    private static let kinds = DownloadJournal.Lane.Kind.allCases.map { Array(($0.rawValue + "-").utf8) }

    /// Whether the name is a lane folder's, such as `main-0123abcd`.
    static func isLaneFolder(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return kinds.contains { kind in
            name.starts(with: kind) && name.count > kind.count && name.dropFirst(kind.count).allSatisfy(isDigit)
        }
    }

    static func isOfKey(_ name: String) -> Bool {
        guard name.hasPrefix("key"), name.hasSuffix(".bin") else { return false }
        return name.utf8.count <= maximumByteCount
            && name.utf8.dropFirst(3).dropLast(4).allSatisfy { isDigit($0) || $0 == 0x2D }
    }

    /// Whether the name is a key file's, or a segment's or map's in a lane folder, such as `main-0123abcd/000001.ts`.
    static func isOfMedia(_ name: String) -> Bool {
        if isOfKey(name) { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isLaneFolder(String(parts[0])) else { return false }
        let file = parts[1].utf8
        return !file.isEmpty && file.first != 0x2E && file.count <= maximumByteCount
            && file.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E }
    }

    private static let maximumByteCount = 100

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
    }
}
