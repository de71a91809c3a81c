import HLSPlaylist

extension EncryptionKey {
    /// Whether somebody has keys of this kind: the network, or the program.
    func isUsable(with keyFormats: Set<String>) -> Bool {
        effectiveKeyFormat == "identity" || keyFormats.contains(effectiveKeyFormat)
    }

    /// Whether media can be decrypted with it: a method that is known, and a key that can be had.
    func decrypts(with keyFormats: Set<String>) -> Bool {
        [.aes128, .sampleAES, .sampleAESCTR].contains(method) && isUsable(with: keyFormats)
    }
}
