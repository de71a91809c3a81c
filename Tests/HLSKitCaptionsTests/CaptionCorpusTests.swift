import HLSKitCaptions
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct CaptionCorpusTests {
    private static func files(_ folder: String) -> [(name: String, bytes: [UInt8])] {
        let root = "\(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 })"
        let folder = root + "/Fuzz/" + folder
        var files: [(name: String, bytes: [UInt8])] = []
        guard let directory = opendir(folder) else { return files }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), let file = fopen("\(folder)/\(name)", "r") else { continue }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
            files.append((name, bytes))
        }
        return files.sorted { $0.name < $1.name }
    }

    /// The files of `Fuzz/corpus-captions`. The file extension names the format.
    static let inputs: [(name: String, format: CaptionFormat, bytes: [UInt8])] = files("corpus-captions")
        .compactMap { name, bytes in
            name.split(separator: ".").last.flatMap { CaptionFormat(rawValue: String($0)) }.map { (name, $0, bytes) }
        }

    @Test("K05: every corpus input satisfies the invariants, whole and truncated")
    func replay() throws {
        #expect(Set(Self.inputs.map(\.format)) == Set(CaptionFormat.allCases))
        for (_, format, bytes) in Self.inputs {
            try ReaderChecks.check(bytes, as: format)
            for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 200)) {
                try ReaderChecks.check(Array(bytes.prefix(count)), as: format)
            }
        }
    }

    @Test("K03: every closed caption corpus input satisfies the invariants, whole and truncated")
    func closedCaptions() throws {
        let files = Self.files("corpus-media/closed-captions")
        #expect(!files.isEmpty)
        for (_, bytes) in files {
            for count in 0...bytes.count { try ClosedCaptionChecks.check(Array(bytes.prefix(count))) }
        }
    }
}
