import Glibc
import HLSKitCore

/// A file to which lines are appended, in the W3C extended format or in JSON. Errors are kept until the end.
struct LogFile: ~Copyable {
    let isJSON: Bool
    /// The first error, after which nothing is written.
    private(set) var failure: HLSError?
    private let path: String
    private let descriptor: Int32

    /// Creates the file with access for its owner only, because URLs may contain secrets.
    init(path: String, overwrite: Bool, header: String) throws(HLSError) {
        self.path = path
        isJSON = [".json", ".ndjson"].contains { path.hasSuffix($0) }
        descriptor = try SafeFile.create(path, overwrite: overwrite)
        if !isJSON { write(header) }
    }

    deinit { close(descriptor) }

    /// - Parameter text: Text with its line feeds.
    mutating func write(_ text: String) {
        guard failure == nil, !Descriptor.write(Array(text.utf8), to: descriptor) else { return }
        let text = String(cString: strerror(errno))
        failure = HLSError(code: .output, urlString: path, cause: "cannot write", detail: text)
    }
}
