import Glibc

struct DynamicLibrary {
    struct Failure: Error {
        var text: String

        /// Returns a message for the failure. The library is missing or cannot be loaded, for example because file
        /// descriptors, memory or a dependency are missing.
        ///
        /// - Parameter package: The Debian package of the library, if it is known.
        func text(for name: String, package: String? = nil) -> String {
            let isAbsent = text.hasPrefix("\(name):") && text.hasSuffix("No such file or directory")
            guard isAbsent || text.isEmpty else { return "\(name) cannot be loaded: \(text)" }
            return "\(name) is not installed" + (package.map { " (Debian: \($0))" } ?? "")
        }
    }

    private let handle: UnsafeMutableRawPointer

    /// - Parameter name: The name with its version, such as `libavcodec.so.59`. The system's linker finds the file.
    init(_ name: String) throws(Failure) {
        guard let handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL) else { throw Self.failure }
        self.handle = handle
    }

    /// Returns a table of the library's functions, which stays valid for the life of the process.
    ///
    /// - Parameter find: Fills the table from the library's handle, and returns 0 if a function is missing.
    func table<Table>(
        _ find: (UnsafeMutablePointer<Table>?, UnsafeMutableRawPointer?) -> Int32
    ) throws(Failure) -> UnsafePointer<Table> {
        let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        guard find(table, handle) != 0 else {
            table.deallocate()
            throw Self.failure
        }
        return UnsafePointer(table)
    }

    private static var failure: Failure { Failure(text: dlerror().map { String(cString: $0) } ?? "") }
}
