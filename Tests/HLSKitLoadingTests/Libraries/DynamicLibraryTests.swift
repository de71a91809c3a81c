import Testing

@testable import HLSKitLoading

@Suite("Libraries opened at run time")
struct DynamicLibraryTests {
    @Test(
        "a missing library is distinguished from one that cannot be loaded",
        arguments: [
            ("liba.so.1: cannot open shared object file: No such file or directory", "liba.so.1 is not installed"),
            (
                "liba.so.1: cannot open shared object file: Too many open files",
                "liba.so.1 cannot be loaded: liba.so.1: cannot open shared object file: Too many open files"
            ),
            (
                "libb.so.2: cannot open shared object file: No such file or directory",
                "liba.so.1 cannot be loaded: libb.so.2: cannot open shared object file: No such file or directory"
            ),
            (
                "libb.so.2: failed to map segment from shared object",
                "liba.so.1 cannot be loaded: libb.so.2: failed to map segment from shared object"
            ),
        ])
    func text(system: String, expected: String) {
        #expect(DynamicLibrary.Failure(text: system).text(for: "liba.so.1") == expected)
    }

    @Test("a missing library is reported in the system's words")
    func absent() {
        #expect(throws: DynamicLibrary.Failure.self) { try DynamicLibrary("libnothing-of-the-kind.so.7") }
        do throws(DynamicLibrary.Failure) { _ = try DynamicLibrary("libnothing-of-the-kind.so.7") } catch {
            #expect(
                error.text(for: "libnothing-of-the-kind.so.7") == "libnothing-of-the-kind.so.7 is not installed")
        }
    }
}
