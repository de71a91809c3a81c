/// The functions of a shared library, which is opened when this is made, or why there are none.
///
/// Kept in a static member, it is made when the first of the functions is needed. The table is of C, with the types of the
/// library's headers (docs/contributing/decisions/loading-libraries.md).
package struct LibraryFunctions<Table>: @unchecked Sendable {  // nobody writes the table after it was made
    /// Where the functions are; nil if the library is not there.
    package let table: UnsafePointer<Table>?
    /// Why it is not there, with Debian's package that has it; nil if it is.
    package let failure: String?

    /// - Parameters:
    ///   - file: its name with its version, such as `libavcodec.so.59`.
    ///   - package: Debian's package that has it; nil for that which Debian's rules give it, such as `libavcodec59`.
    ///   - find: fills the table from the library's handle; 0 if a function is missing.
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

    /// What Debian calls the package of a library (Debian Policy, 8.1).
    private static func package(of name: String) -> String {
        let parts = name.split(separator: ".")
        guard parts.count == 3, let last = parts[0].last else { return name }
        return parts[0] + (last.isNumber ? "-" : "") + parts[2]
    }
}
