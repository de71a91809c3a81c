import Foundation
import Glibc
import HLSKitLoading
import HLSKitOutput
import TestSupport
import Testing

@Suite("Files in shared folders")
struct SafeFileTests {
    private func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func write(_ text: String, to descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    @Test("a file is private to its owner, and an existing one is truncated only on request")
    func plain() throws {
        let scratch = try ScratchFolder()
        let path = scratch.path + "/a"
        write("one", to: try SafeFile.create(path, overwrite: false))
        #expect(throws: HLSError.self) { try SafeFile.create(path, overwrite: false) }
        #expect(text(path) == "one")
        chmod(path, 0o644)
        write("2", to: try SafeFile.create(path, overwrite: true))
        #expect(text(path) == "2")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        write("x", to: try SafeFile.create("/dev/null", overwrite: true))
        write("new", to: try SafeFile.create(scratch.path + "/b", overwrite: true))
    }

    @Test("links, hard links, folders and files of other users are refused and left intact")
    func refused() throws {
        let scratch = try ScratchFolder()
        try scratch.write(Array("precious".utf8), to: "victim")
        let victim = scratch.path + "/victim"
        symlink(victim, scratch.path + "/link")
        symlink(scratch.path + "/nothing", scratch.path + "/dangling")
        mkdir(scratch.path + "/folder", 0o777)
        var cases = ["link": "is a link", "dangling": "is a link", "folder": "is a folder"]
        if geteuid() == 0 {
            try scratch.write(Array("theirs".utf8), to: "foreign")
            chown(scratch.path + "/foreign", 12345, 12345)
            cases["foreign"] = "belongs to another user"
        }
        for (name, why) in cases {
            let error = #expect(throws: HLSError.self) {
                try SafeFile.create("\(scratch.path)/\(name)", overwrite: true)
            }
            #expect(error?.text.contains(why) == true, "\(error?.text ?? "")")
        }
        #expect(access(scratch.path + "/nothing", F_OK) != 0)
        link(victim, scratch.path + "/second")
        #expect(throws: HLSError.self) { try SafeFile.create(scratch.path + "/second", overwrite: true) }
        #expect(text(victim) == "precious")
    }

    @Test("a .part that is a link or another user's is refused; an earlier run's is replaced")
    func parts() throws {
        let scratch = try ScratchFolder()
        try scratch.write(Array("precious".utf8), to: "victim")
        symlink(scratch.path + "/victim", scratch.path + "/a.ts.part")
        #expect(throws: HLSError.self) { try OutputFile(path: scratch.path + "/a.ts") }
        #expect(text(scratch.path + "/victim") == "precious" && access(scratch.path + "/a.ts.part", F_OK) == 0)
        try scratch.write([1], to: "b.ts.part")
        #expect(throws: Never.self) { try OutputFile(path: scratch.path + "/b.ts").discard() }
        guard geteuid() == 0 else { return }
        try scratch.write([1], to: "c.ts.part")
        chown(scratch.path + "/c.ts.part", 12345, 12345)
        #expect(throws: HLSError.self) { try OutputFile(path: scratch.path + "/c.ts") }
    }
}
