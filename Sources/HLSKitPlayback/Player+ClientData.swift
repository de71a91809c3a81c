public import HLSKitEngine

extension Player {
    /// Tells those who are told of events (``ClientData/eventTargets``) what only the program knows. Does nothing where nobody
    /// is. ``isMuted`` is told by itself.
    public func report(_ notice: ClientDataNotice) { core.control(.report(notice)) }
}
