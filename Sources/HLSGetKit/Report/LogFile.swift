import Glibc
import HLSKitCore

/// A file that grows by lines, of text in the W3C extended format or of JSON. What goes wrong is kept until the end.
struct LogFile: ~Copyable {
    /// Lines are JSON: the name of the file says so.
    let isJSON: Bool
    /// The first failure; nothing is written behind it.
    private(set) var failure: HLSError?
    private let path: String
    private let descriptor: Int32

    /// Makes the file, for its owner only: URLs may hold what is secret.
    ///
    /// - Parameter header: what text begins with.
    init(path: String, overwrite: Bool, header: String) throws(HLSError) {
        self.path = path
        isJSON = [".json", ".ndjson"].contains { path.hasSuffix($0) }
        descriptor = try SafeFile.create(path, overwrite: overwrite)
        if !isJSON { write(header) }
    }

    deinit { close(descriptor) }

    /// - Parameter text: with the ends of its lines.
    mutating func write(_ text: String) {
        guard failure == nil else { return }
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let text = String(cString: strerror(errno))
                failure = HLSError(code: .output, urlString: path, cause: "cannot write", detail: text)
                return
            }
            offset += count
        }
    }
}
