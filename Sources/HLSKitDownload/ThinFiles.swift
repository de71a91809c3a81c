import Glibc
import HLSKitNetwork
import HLSKitOutput
import Synchronization

/// The files of a download's folder of which only the difference to what was packed is kept, so that nothing stands on the
/// disk twice.
///
/// `NAME.thin` stands for `NAME`; where both are there, the whole one counts. What they refer to, files whose names begin
/// with `output`, is removed or punched when none of them needs it any more.
final class ThinFiles: Sendable {
    static let ending = ".thin"
    /// What goes on under its own name outside keeps this one for those that refer to it.
    private static let keptEnding = ".kept"
    private static let partEnding = ".part"
    /// A difference that is larger than this part of a file is not worth it.
    private static let largestShare = 4

    private let references = Mutex<[String: ThinFile.Reference]>([:])
    private let isStopped = Mutex(false)
    private static let library = PatchLibrary.installed

    // MARK: What is there

    /// Finds those that an earlier run has left, in the folder or one in it.
    func find(in lane: String, of folder: borrowing SafeFolder) {
        let all = Set(folder.names(in: lane))
        for thin in all where thin.hasSuffix(Self.ending) {
            let whole = String(thin.dropLast(Self.ending.count))
            let name = "\(lane)/\(whole)"
            guard !all.contains(whole), let file = Self.read(name, in: folder) else {
                folder.remove(name + Self.ending)
                continue
            }
            references.withLock { $0[name] = file.reference }
        }
    }

    var names: [String] { references.withLock { $0.keys.sorted() } }

    /// A name for what is packed next: another one than those that are referred to.
    func nextOutput(ending: String) -> String {
        let taken = Set(references.withLock { $0.values.map(\.output) })
        let first = "output.\(ending)"
        if taken.isEmpty { return first }
        return (2...).lazy.map { "output-\($0).\(ending)" }.first { !taken.contains($0) } ?? first
    }

    // MARK: Reading

    /// All bytes that a file had; nil where it is not kept so, or what it refers to is not as it was.
    func bytes(of name: String, in folder: borrowing SafeFolder) -> [UInt8]? {
        // It may be packed again between the two things that are read.
        for _ in 0..<2 {
            guard let library = Self.library, let file = Self.read(name, in: folder) else { return nil }
            guard let reference = Self.read(file.reference, in: folder) else { continue }
            let bytes = file.patch.withUnsafeBytes { patch in
                reference.withUnsafeBytes { library.bytes(patch, from: $0, byteCount: file.reference.byteCount) }
            }
            guard let bytes else { continue }
            guard let key = file.reference.key else { return bytes }
            return try? AES128Encryptor.encrypt(
                bytes, key: Self.bytes(of: key, in: folder), initializationVector: key.vector)
        }
        return nil
    }

    private static func read(_ name: String, in folder: borrowing SafeFolder) -> ThinFile? {
        let descriptor = folder.open(name + ending, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return ThinFile(parsing: DownloadFolder.read(descriptor))
    }

    private static func bytes(of key: ThinFile.Key, in folder: borrowing SafeFolder) -> [UInt8] {
        let descriptor = folder.open(key.file, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return DownloadFolder.read(descriptor)
    }

    private static func read(_ reference: ThinFile.Reference, in folder: borrowing SafeFolder) -> [UInt8]? {
        for ending in ["", partEnding, keptEnding] {
            let descriptor = folder.open(reference.output + ending, O_RDONLY)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            return read(reference.range, of: descriptor)
        }
        return nil
    }

    private static func read(_ range: Range<Int64>, of descriptor: Int32) -> [UInt8]? {
        let size = range.count
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let piece = UnsafeMutableBufferPointer(rebasing: buffer[count...])
                let length = pread(
                    descriptor, piece.baseAddress, piece.count, off_t(range.lowerBound) + off_t(count))
                if length < 0, errno == EINTR { continue }
                guard length > 0 else { return }
                count += length
            }
        }
        return bytes.count == size ? bytes : nil
    }

    // MARK: Writing

    /// No more are made: others than the download read the folder.
    func stop() { isStopped.withLock { $0 = true } }

    /// The difference of a file to a part of what was packed; nil where it is not worth keeping instead.
    func patch(_ bytes: [UInt8], _ piece: ThinningPlan.Piece, in folder: borrowing SafeFolder) -> ThinFile? {
        let range = piece.range
        guard !isStopped.withLock(\.self), let library = Self.library, !bytes.isEmpty, !range.isEmpty,
            range.count <= ThinFile.largestRange,
            bytes.count <= ThinFile.largestByteCount
        else { return nil }
        var bytes = bytes
        if let key = piece.key {
            let clear = try? AES128Decryptor.decrypt(
                bytes, key: Self.bytes(of: key, in: folder), initializationVector: key.vector)
            guard let clear, !clear.isEmpty else { return nil }
            bytes = clear
        }
        let reference = ThinFile.Reference(
            output: piece.output, range: range, byteCount: bytes.count, key: piece.key)
        guard let found = Self.read(reference, in: folder) else { return nil }
        let patch = bytes.withUnsafeBytes { bytes in found.withUnsafeBytes { library.patch(bytes, from: $0) } }
        guard let patch, patch.count <= bytes.count / Self.largestShare else { return nil }
        return ThinFile(reference: reference, patch: patch)
    }

    /// Files are kept so from now on: `NAME.thin` is on the disk, and what it refers to.
    func note(_ files: [(name: String, file: ThinFile)], in folder: borrowing SafeFolder) {
        isStopped.withLock { isStopped in
            for (name, file) in files {
                if !isStopped {
                    note(file, for: name, in: folder)
                } else if !isKept(name, by: file.reference) {
                    folder.remove(name + Self.ending)
                }
            }
        }
    }

    /// Whether a file was kept so before, and nobody has made it whole: then its difference is all that there is of it.
    private func isKept(_ name: String, by reference: ThinFile.Reference) -> Bool {
        references.withLock { $0[name] == nil ? false : $0.updateValue(reference, forKey: name) != nil }
    }

    private func note(_ file: ThinFile, for name: String, in folder: borrowing SafeFolder) {
        let before = references.withLock { $0.updateValue(file.reference, forKey: name) }
        folder.remove(name)
        if let before, before.output != file.reference.output { release(before.output, in: folder) }
    }

    /// A file is there whole, or not at all.
    func remove(_ name: String, in folder: borrowing SafeFolder) {
        folder.remove(name + Self.ending)
        references.withLock { references in _ = references.removeValue(forKey: name) }
    }

    // MARK: What they refer to

    /// Nothing else writes to this any more: what is needed of it stays.
    private func release(_ output: String, in folder: borrowing SafeFolder) {
        let needed = references.withLock { $0.values.filter { $0.output == output }.map(\.range.lowerBound).min() }
        for ending in ["", Self.partEnding, Self.keptEnding] {
            guard let needed else {
                folder.remove(output + ending)
                continue
            }
            let descriptor = folder.open(output + ending, O_WRONLY)
            guard descriptor >= 0 else { continue }
            // What has a name outside is somebody's file by now. Where the file system cannot do that, it stays until it
            // can go whole.
            var status = stat()
            if needed > 0, fstat(descriptor, &status) == 0, status.st_nlink == 1 {
                _ = HolePunch.punch?(descriptor, HolePunch.mode, 0, off_t(needed))
            }
            close(descriptor)
        }
    }

    /// Removes all that was packed and that nothing refers to.
    func removeUnneededOutputs(in folder: borrowing SafeFolder) {
        let needed = Set(references.withLock { $0.values.map(\.output) })
        for name in folder.names() where ThinFile.isOutput(name) {
            let base = [Self.partEnding, Self.keptEnding].first { name.hasSuffix($0) }
                .map { String(name.dropLast($0.count)) }
            if !needed.contains(base ?? name) { folder.remove(name) }
        }
    }

    /// What was packed is about to get a name outside: where something refers to it, it keeps one here.
    func keep(_ output: String, in folder: borrowing SafeFolder) {
        guard references.withLock({ $0.values.contains { $0.output == output } }) else { return }
        folder.remove(output + Self.keptEnding)
        _ = folder.link(output, to: output + Self.keptEnding)
    }
}

/// `fallocate`, which Swift's module of the C library does not have.
private enum HolePunch {
    static let punch = dlsym(nil, "fallocate").map {
        unsafeBitCast($0, to: (@convention(c) (Int32, Int32, off_t, off_t) -> Int32).self)
    }
    /// `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE`.
    static let mode: Int32 = 3
}
