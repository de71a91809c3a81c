import Glibc

/// A file that is read later, by a library that would not say clearly what is wrong with it.
package enum FileArgument {
    /// The path, of a file that can be opened.
    package static func readable(_ path: String) throws(ArgumentValueError) -> String {
        // Not to wait for someone to write where it is a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ArgumentValueError("cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw ArgumentValueError("cannot be read: it is a folder")
        }
        return path
    }

    /// `~/.netrc`, where netrc(5) says it is.
    static var netrcPath: String { (getenv("HOME").map { String(cString: $0) } ?? "") + "/.netrc" }

    /// The file of certificates that `CURL_CA_BUNDLE` or `SSL_CERT_FILE` names, or `nil` if neither names a readable file.
    static var certificatesOfEnvironment: String? {
        ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].lazy.compactMap { name -> String? in
            guard let path = getenv(name).map({ String(cString: $0) }), !path.isEmpty else { return nil }
            return try? readable(path)
        }.first
    }
}
