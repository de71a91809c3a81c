import Glibc
import HLSKitNetwork
import HLSKitOutput
import Synchronization

/// The thin files in a download's folder, of which only the difference to the muxed output is stored. This avoids
/// storing media twice.
///
/// `NAME.thin` represents `NAME`. If both exist, the complete file takes precedence. Thin files refer to output files,
/// whose names begin with `output`. An output is removed, or a hole punched in it, when no thin file needs it any more.
final class ThinFiles: Sendable {
    static let ending = ".thin"
    /// The ending of a second link to an output that was published under its final name.
    private static let keptEnding = ".kept"
    private static let partEnding = ".part"
    /// A difference larger than this fraction of the file is not worth storing.
    private static let largestShare = 4

    private let references = Mutex<[String: ThinFile.Reference]>([:])
    private let isStopped = Mutex(false)
    private static let library = PatchLibrary.installed

    // MARK: What is there

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

    /// A name for the next output that no thin file refers to.
    func nextOutput(ending: String) -> String {
        let taken = Set(references.withLock { $0.values.map(\.output) })
        let first = "output.\(ending)"
        if taken.isEmpty { return first }
        return (2...).lazy.map { "output-\($0).\(ending)" }.first { !taken.contains($0) } ?? first
    }

    // MARK: Reading

    /// Restores the bytes of a file, or returns `nil` if it is not thin or its output has changed.
    func bytes(of name: String, in folder: borrowing SafeFolder) -> [UInt8]? {
        // Retry once, because the file may be muxed again between the two reads.
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

    /// Stops making thin files, because other programs read the folder.
    func stop() { isStopped.withLock { $0 = true } }

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

    /// Notes new thin files. The thin files and their outputs must have been flushed to the disk.
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

    /// Updates the reference of a file and returns whether it was thin before. Its difference is then all that exists
    /// of it.
    private func isKept(_ name: String, by reference: ThinFile.Reference) -> Bool {
        references.withLock { $0[name] == nil ? false : $0.updateValue(reference, forKey: name) != nil }
    }

    private func note(_ file: ThinFile, for name: String, in folder: borrowing SafeFolder) {
        let before = references.withLock { $0.updateValue(file.reference, forKey: name) }
        folder.remove(name)
        if let before, before.output != file.reference.output { release(before.output, in: folder) }
    }

    /// Removes the thin file, because the file is now complete or deleted.
    func remove(_ name: String, in folder: borrowing SafeFolder) {
        folder.remove(name + Self.ending)
        references.withLock { references in _ = references.removeValue(forKey: name) }
    }

    // MARK: What they refer to

    /// Removes the unneeded part of an output, to which nothing writes any more.
    private func release(_ output: String, in folder: borrowing SafeFolder) {
        let needed = references.withLock { $0.values.filter { $0.output == output }.map(\.range.lowerBound).min() }
        for ending in ["", Self.partEnding, Self.keptEnding] {
            guard let needed else {
                folder.remove(output + ending)
                continue
            }
            let descriptor = folder.open(output + ending, O_WRONLY)
            guard descriptor >= 0 else { continue }
            // Do not change an output that also has a name outside of the folder. If punching is unsupported, the
            // output remains until it can be removed.
            var status = stat()
            if needed > 0, fstat(descriptor, &status) == 0, status.st_nlink == 1 {
                _ = HolePunch.punch?(descriptor, HolePunch.mode, 0, off_t(needed))
            }
            close(descriptor)
        }
    }

    func removeUnneededOutputs(in folder: borrowing SafeFolder) {
        let needed = Set(references.withLock { $0.values.map(\.output) })
        for name in folder.names() where ThinFile.isOutput(name) {
            let base = [Self.partEnding, Self.keptEnding].first { name.hasSuffix($0) }
                .map { String(name.dropLast($0.count)) }
            if !needed.contains(base ?? name) { folder.remove(name) }
        }
    }

    /// Keeps a second link to an output that is about to be published, if thin files refer to it.
    func keep(_ output: String, in folder: borrowing SafeFolder) {
        guard references.withLock({ $0.values.contains { $0.output == output } }) else { return }
        folder.remove(output + Self.keptEnding)
        _ = folder.link(output, to: output + Self.keptEnding)
    }
}

/// `fallocate`, which Swift's Glibc module lacks.
private enum HolePunch {
    static let punch = dlsym(nil, "fallocate").map {
        unsafeBitCast($0, to: (@convention(c) (Int32, Int32, off_t, off_t) -> Int32).self)
    }
    /// `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE`.
    static let mode: Int32 = 3
}
