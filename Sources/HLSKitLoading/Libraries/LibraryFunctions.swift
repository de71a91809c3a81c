/// The functions of a shared library that is opened on creation, or the reason why they are missing.
///
/// A static property creates it when the first function is needed. The table is a C structure with the types of the
/// library's headers.
package struct LibraryFunctions<Table>: @unchecked Sendable {  // the table is not written after creation
    package let table: UnsafePointer<Table>?
    /// The reason why the library is not available, with its Debian package, or nil if it is available.
    package let failure: String?

    /// - Parameters:
    ///   - file: The name with its version, such as `libavcodec.so.59`.
    ///   - package: The Debian package, or nil for the name according to Debian's rules, such as `libavcodec59`.
    ///   - find: Fills the table from the library's handle, and returns 0 if a function is missing.
    package init(
        _ file: UnsafePointer<CChar>, package: String? = nil,
        find: (UnsafeMutablePointer<Table>?, UnsafeMutableRawPointer?) -> Int32
    ) {
        let name = String(cString: file)
        do throws(DynamicLibrary.Failure) {
            table = try DynamicLibrary(name).table(find)
            failure = nil
        } catch {
            table = nil
            failure = error.text(for: name, package: package ?? Self.package(of: name))
        }
    }

    /// Returns the Debian package of a library (Debian Policy, 8.1).
    private static func package(of name: String) -> String {
        let parts = name.split(separator: ".")
        guard parts.count == 3, let last = parts[0].last else { return name }
        return parts[0] + (last.isNumber ? "-" : "") + parts[2]
    }
}
