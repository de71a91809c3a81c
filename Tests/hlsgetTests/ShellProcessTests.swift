import Foundation
import HLSGetKit
import HLSKitCore
import Testing

@testable import hlsget

@Suite("Shell commands", .timeLimit(.minutes(10)), .serialized)
struct ShellProcessTests {
    @Test("a command's output, exit status and environment are passed on")
    func output() async throws {
        let process = try ShellProcess("echo $A; exit 3", variables: ["A": "b c"])
        let (bytes, status) = await process.output(atMost: 100)
        #expect(String(decoding: bytes, as: UTF8.self) == "b c\n")
        #expect(status == 3)
    }

    @Test("output is read up to the limit, and a command that writes for ever ends")
    func limit() async throws {
        let process = try ShellProcess("while :; do echo 1234567; done", variables: [:])
        let (bytes, status) = await process.output(atMost: 10_000)
        #expect(bytes.count == 10_000)
        #expect(status == 128 + SIGPIPE)
    }

    @Test("a terminated command ends at once, with its child processes")
    func terminated() async throws {
        let process = try ShellProcess("sleep 100 & sleep 100", variables: [:])
        process.terminate()
        let (_, status) = await process.output(atMost: 10)
        #expect(status == 128 + SIGTERM)
    }

    @Test("background processes of a command are not waited for")
    func leftBehind() async throws {
        let process = try ShellProcess("echo x; sleep 20 & ", variables: [:])
        let (bytes, status) = await process.output(atMost: 10)
        #expect(bytes == Array("x\n".utf8))
        #expect(status == 0)
        process.terminate()
    }

    @Test("fifty refreshes leave no file descriptor behind, and pass none to the command")
    func descriptors() async throws {
        let refresher = RefreshCommand(command: "echo http://a/$(ls /proc/self/fd | wc -l)")
        let expired = ExpiredURL(itemURL: "http://a/b", url: "http://a/c", status: 403)
        let first = try await refresher.freshURL(insteadOf: expired)
        // 0, 1, 2 and the folder that `ls` reads.
        #expect(first == "http://a/4")
        let before = try Self.openPipes()
        for _ in 0..<50 { _ = try await refresher.freshURL(insteadOf: expired) }
        // Other tests open and close their own pipes at the same time.
        #expect(try Self.openPipes() < before + 25)
    }

    private static func openPipes() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
