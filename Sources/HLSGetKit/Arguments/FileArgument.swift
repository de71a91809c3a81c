import Glibc

/// A file that a library reads later, with unclear error messages.
package enum FileArgument {
    package static func readable(_ path: String) throws(ArgumentValueError) -> String {
        // If the file is a pipe, do not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ArgumentValueError("cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw ArgumentValueError("cannot be read: it is a folder")
        }
        return path
    }

    /// `~/.netrc`, as netrc(5) specifies.
    static var netrcPath: String { (getenv("HOME").map { String(cString: $0) } ?? "") + "/.netrc" }

    /// The file of certificates that `CURL_CA_BUNDLE` or `SSL_CERT_FILE` names, or `nil` if neither names a readable file.
    static var certificatesOfEnvironment: String? {
        ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].lazy.compactMap { name -> String? in
            guard let path = getenv(name).map({ String(cString: $0) }), !path.isEmpty else { return nil }
            return try? readable(path)
        }.first
    }
}
