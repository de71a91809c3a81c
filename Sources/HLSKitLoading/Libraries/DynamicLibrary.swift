import Glibc

/// A shared library that is opened while the program runs, and stays open.
struct DynamicLibrary {
    struct Failure: Error {
        /// The system's words.
        var text: String

        /// The fault of the library: it is not there, or there is something else, such as too few descriptors or too
        /// little memory, or a library that it needs.
        ///
        /// - Parameter package: Debian's package that has it, where that is known.
        func text(for name: String, package: String? = nil) -> String {
            let isAbsent = text.hasPrefix("\(name):") && text.hasSuffix("No such file or directory")
            guard isAbsent || text.isEmpty else { return "\(name) cannot be loaded: \(text)" }
            return "\(name) is not installed" + (package.map { " (Debian: \($0))" } ?? "")
        }
    }

    private let handle: UnsafeMutableRawPointer

    /// - Parameter name: with its version, such as `libavcodec.so.59`; found where the system's linker finds it.
    init(_ name: String) throws(Failure) {
        guard let handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL) else { throw Self.failure }
        self.handle = handle
    }

    /// A table of the library's functions, for the life of the program.
    ///
    /// - Parameter find: writes the table from the library's handle; 0 if a function is missing.
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
