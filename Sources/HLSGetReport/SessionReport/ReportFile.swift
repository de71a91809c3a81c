import Glibc
import HLSGetKit
package import HLSKitCore

/// The file of a report. It is created before playback and written at the end.
package struct ReportFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var isWritten = false

    /// Creates the file with access for its owner only, because it shows which content was watched.
    package init(path: String, overwrite: Bool) throws(HLSError) {
        self.path = path
        descriptor = try SafeFile.create(path, overwrite: overwrite)
    }

    deinit {
        var status = stat()
        if !isWritten, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { unlink(path) }
        close(descriptor)
    }

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
