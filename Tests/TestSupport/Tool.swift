package import Foundation

/// Runs programs of the system.
///
/// `Process` is unsuitable. Its children inherit the mask of a pool thread, with all signals blocked, and processes
/// that other tests start at the same time hold its pipes open.
package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(description: String) { self.description = description }
    }

    @discardableResult
    package static func run(_ arguments: [String], input: [UInt8] = [], in folder: String = "/") throws -> [UInt8] {
        let scratch = try ScratchFolder()
        let (output, errors) = (scratch.path + "/output", scratch.path + "/errors")
        let source = open(try scratch.write(input, to: "input"), O_RDONLY | O_CLOEXEC)
        defer { close(source) }
        let child = try spawn(arguments, in: folder, input: source, output: output, errors: errors)
        var status: Int32 = 0
        waitpid(child, &status, 0)
        guard status == 0 else {
            let words = FileManager.default.contents(atPath: errors) ?? Data()
            throw Failure(description: "\(arguments): \(String(decoding: words, as: UTF8.self))")
        }
        return Array(FileManager.default.contents(atPath: output) ?? Data())
    }

    /// Starts a program with no blocked signals.
    package static func spawn(
        _ arguments: [String], in folder: String, input: Int32, output: String, errors: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // Prevents programs from reading the configuration files of the user who runs the tests.
        let script = "export XDG_CONFIG_HOME=/dev/null; cd \"$1\" && shift && exec \"$@\""
        let words = ["sh", "-c", script, "run", folder] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        let result = posix_spawn(&child, "/bin/sh", &actions, &attributes, &pointers, environ)
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
        return child
    }

    package static func exists(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
}
