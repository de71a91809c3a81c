import TestSupport
import Testing

/// Runs `scripts/package` with a small program that starts the command from the build folder.
@Suite("Packages", .ownThread, .timeLimit(.minutes(10)))
struct PackageTests {
    private static let root = SampleMedia.fixtures + "/../.."
    private static let needs = ["dpkg-deb", "dpkg-shlibdeps", "strip", "chrpath", "clang", "python3", "git", "xz"]
    private static let canPackage = needs.allSatisfy { name in
        (try? Tool.run(["sh", "-c", "command -v \(name)"])) != nil
    }

    /// Builds a program that runs `hlsget` and names the libraries that a build with FFmpeg 5.1 opens.
    private static func program(in folder: ScratchFolder) throws -> String {
        let source = """
            #include <unistd.h>
            const char *const files[] = {"libavcodec.so.59", "libswscale.so.6", "libcurl.so.4", "libcrypto.so.3"};
            int main(int count, char **words) {
                (void)count;
                return execv("\(Command.productFolder)/hlsget", words) + (files[0] == files[1]);
            }
            """
        let file = try folder.write(Array(source.utf8), to: "program.c")
        try Tool.run(["clang", "-O1", "-o", folder.path + "/program", file])
        return folder.path + "/program"
    }

    @Test(
        "Q19: a package has command, manual pages, completions, service and dependencies, reproducibly",
        .enabled(if: canPackage, "needs dpkg-dev, chrpath and clang"))
    func contents() throws {
        let folder = try ScratchFolder()
        let program = try Self.program(in: folder)
        let script = Self.root + "/scripts/package"
        let said = try Tool.run([script, "--compression", "gzip", "--self-test", program])
        #expect(
            String(decoding: said, as: UTF8.self)
                == "package: the packages are the same twice, and have what they should\n")

        let made = try Tool.run([script, "--compression", "none", "--binary", program, folder.path + "/made"])
        let files = String(decoding: made, as: UTF8.self).split(separator: "\n").map(String.init)
        try #require(files.count == 3)
        let field = { (name: String) in
            String(decoding: try Tool.run(["dpkg-deb", "--field", files[0], name]), as: UTF8.self)
        }
        #expect(try field("Depends").contains("libcurl4 | libcurl4t64"))
        #expect(try field("Depends").contains("libssl3 | libssl3t64"))
        for library in ["libavcodec59", "libavfilter8", "libswscale6"] {
            #expect(try field("Recommends").contains(library))
        }
        let list = String(decoding: try Tool.run(["tar", "-tvf", files[1]]), as: UTF8.self)
        #expect(list.contains("/bin/hlsget\n") && list.contains("/share/man/man1/hlsget.1.gz\n"))
        #expect(list.split(separator: "\n").allSatisfy { $0.contains(" 0/0 ") })
    }

    @Test(
        "Q19: other files than hlsget are not packaged", .enabled(if: canPackage, "needs dpkg-dev, chrpath and clang"))
    func refuses() throws {
        let folder = try ScratchFolder()
        #expect(throws: Tool.Failure.self) {
            try Tool.run([Self.root + "/scripts/package", "--binary", "/bin/true", folder.path])
        }
        #expect(throws: Tool.Failure.self) {
            try Tool.run([Self.root + "/scripts/package", "--binary", folder.path + "/none", folder.path])
        }
    }
}
