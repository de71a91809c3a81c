import Glibc
import HLSGetKit
package import HLSKitCore

/// The file of a report. It is made before anything is played, and written at the end.
package struct ReportFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var isWritten = false

    /// Makes the file, for its owner only: it says what was watched.
    package init(path: String, overwrite: Bool) throws(HLSError) {
        self.path = path
        descriptor = try SafeFile.create(path, overwrite: overwrite)
    }

    /// A file that nothing came to be written to is not left behind.
    deinit {
        var status = stat()
        if !isWritten, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { unlink(path) }
        close(descriptor)
    }

    /// Writes the page; reports what went wrong.
    package mutating func finish(_ html: String) -> HLSError? {
        isWritten = true
        do {
            try FileBytes.write(html, to: descriptor)
            return nil
        } catch {
            return HLSError(code: .output, urlString: path, cause: "cannot write", detail: FileBytes.text(of: error))
        }
    }
}
